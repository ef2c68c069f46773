package porttest

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// plannedMove is a move and the model's answers to it.
type plannedMove struct {
	move
	answers []sessionAnswer
	purges  bool // it removes rows for good
}

// sessionAnswer is an answer to a session.
type sessionAnswer struct {
	who   int
	reply mysql.Reply
}

// planMoves returns the moves to which a real server has only one possible answer.
// Moves that depend on the server's speed or its purge are left out.
func planMoves(moves []move) []plannedMove {
	var plan []plannedMove
	o := newOracle()
	for _, m := range moves {
		if o.waiting[m.who] != nil {
			continue // a session has one statement at a time
		}
		probe := newOracle()
		for _, old := range plan {
			probe.do(old.move)
		}
		if probe.certain(m) {
			plan = append(plan, o.do(m))
		}
	}
	return plan
}

// oracle is the model during a sequence.
type oracle struct {
	server   *model.Server
	sessions [3]int64
	waiting  [3]*mysql.Command // without an answer yet
	views    [3]view
	tag      int
}

// view is the part of a session's state that affects the purge.
type view struct {
	next, level mysql.Isolation
	open        bool // it is in a transaction
	snapshot    bool // it has a snapshot, which needs old rows
	deletes     bool // it has deleted rows
}

func newOracle() *oracle {
	o := &oracle{server: model.New(model.Options{})}
	for i := range o.sessions {
		o.sessions[i] = o.server.Connect(model.Clock{})
	}
	return o
}

// do executes m on the model.
func (o *oracle) do(m move) plannedMove {
	p := plannedMove{move: m}
	o.tag++
	o.waiting[m.who] = &m.do
	o.server.Do(model.Clock{Wall: time.Hour}, o.sessions[m.who], o.tag, m.do)
	for _, out := range o.server.Outputs() {
		for who, id := range o.sessions {
			if out.Kind == model.Answer && out.Session == id {
				p.answers = append(p.answers, sessionAnswer{who, out.Reply})
				p.purges = o.views[who].apply(o.waiting[who], out.Reply) || p.purges
				o.waiting[who] = nil
			}
		}
	}
	return p
}

// certain executes m and reports whether its result does not depend on timing in
// a real server. At most one waiter may continue, and no snapshot may need the
// rows that it removes. A rollback in a deadlock is not certain either: InnoDB
// chooses by the layout of its lock lists. The model follows that in all cases of
// the table, but not in one of 2,500 random sequences.
func (o *oracle) certain(m move) bool {
	before := o.server.Resumed()
	p := o.do(m)
	others := 0
	for _, a := range p.answers {
		if a.who != m.who {
			others++
		}
		if a.reply.Code == mysql.DeadlockFound && m.do.Verb != mysql.GetLock {
			return false
		}
	}
	for _, v := range o.views {
		if p.purges && v.snapshot {
			return false
		}
	}
	return others <= 1 && o.server.Resumed()-before <= 1
}

// apply notes that c got the answer r, and reports whether rows have gone for
// good.
func (v *view) apply(c *mysql.Command, r mysql.Reply) (purges bool) {
	switch {
	case c.Verb == mysql.Isolate:
		v.next = c.Isolation
	case c.Verb == mysql.Begin:
		purges = v.deletes
		*v = view{next: v.next, level: v.next, open: true}
	case c.Verb == mysql.Commit:
		purges = v.deletes
		*v = view{next: v.next}
	case c.Verb == mysql.Rollback, r.Code == mysql.DeadlockFound && c.Verb != mysql.GetLock:
		*v = view{next: v.next}
	case c.Verb == mysql.Select:
		v.snapshot = v.open && v.level == mysql.RepeatableRead
	case c.Verb == mysql.Delete && r.Affected > 0:
		v.deletes = v.open
		purges = !v.open
	}
	return purges
}
