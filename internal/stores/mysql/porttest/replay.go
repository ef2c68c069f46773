package porttest

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// play plays moves and returns a description of the first failure, or "".
func (l *lane) play(moves []move) string {
	plan := planMoves(moves)
	l.dropped += len(moves) - len(plan)
	l.Settle()
	l.Empty()
	r := replay{lane: l, prefix: prefix()}
	for i := range r.sessions {
		r.sessions[i] = l.Open()
		defer r.sessions[i].Close()
	}
	for i, m := range plan {
		if what := r.step(m); what != "" {
			var b strings.Builder
			for j, m := range plan[:i+1] {
				fmt.Fprintf(&b, "%3d %v\n", j, m.move)
				for _, a := range m.answers {
					fmt.Fprintf(&b, "        %d: %s\n", a.who, show(a.reply))
				}
			}
			fmt.Fprintf(&b, "    %s\n", what)
			return b.String()
		}
	}
	return ""
}

// replay is one sequence under way.
type replay struct {
	*lane
	prefix   string
	sessions [3]mysql.Handle
	waiting  [3]*pendingCall
}

// step executes m and checks that the server answers exactly as the model.
func (r *replay) step(m plannedMove) string {
	p := &pendingCall{r.Start(r.sessions[m.who], within(r.prefix, m.do)), m.do}
	r.waiting[m.who] = p
	for _, a := range m.answers {
		w := r.waiting[a.who]
		got, done, err := w.Answer(patience)
		reply := a.reply
		if w.do.Verb == mysql.IsUsedLock && !reply.Null {
			reply.Int = r.sessions[reply.Int-1].ID() // the model counts sessions from 1
		}
		if !done || err != nil || !alike(w.do, got, reply) {
			return fmt.Sprintf("session %d: got %s, error %v, answered %t; the model says %s", a.who, show(got), err, done, show(reply))
		}
		r.waiting[a.who] = nil
		r.answers++
		if a.who != m.who {
			r.waited++
		}
		if reply.Code == mysql.DeadlockFound {
			r.deadlocks++
		}
	}
	if r.waiting[m.who] != nil {
		if got, done, err := p.Answer(r.Slack() + ms); done {
			return fmt.Sprintf("session %d: got %s, error %v; the model waits", m.who, show(got), err)
		}
	}
	for who, w := range r.waiting {
		if w == nil {
			continue
		}
		if got, done, err := w.Answer(0); done {
			return fmt.Sprintf("session %d: got %s, error %v; the model still waits", who, show(got), err)
		}
	}
	if m.purges {
		r.Settle()
	}
	return ""
}
