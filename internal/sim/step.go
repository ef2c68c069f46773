package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// stepKind is the kind of a step.
type stepKind uint8

const (
	arrives stepKind = iota // a message arrives
	goesOn                  // a sleep of the harness ends early
	again                   // a client's Backoff ends
	gives                   // a client's caller gives up
	offered                 // an offer is taken
	tick                    // time advances to a timer
	passes                  // time passes without a timer
	early                   // a slowed message arrives early
)

// step is one possible next step in a run in which order decides.
type step struct {
	kind   stepKind
	at     time.Duration // of a tick
	task   *task         // of goesOn, again, and a tick to a task's timer
	server *server       // of a tick to a server's timer
	index  int           // of a pending event, or of an offer; else -1
	offer  bool          // index refers to an offer
}

// Steps returns the number of possible steps.
func (w *World) Steps() int { return len(w.search.steps) }

// StepName returns the name of step i: "c1→redis-1" when a message arrives there, "c1
// goes on", "c1 asks", or an offer's name such as "pause c2". "until " comes
// before the name of the timer to which time advances.
func (w *World) StepName(i int) string {
	o := &w.search
	s, name := &o.steps[i], ""
	switch {
	case s.kind == passes:
		return until + "dates pass"
	case s.offer:
		name = o.offers[s.index].Name()
	case s.index >= 0:
		if m, ok := o.pending[s.index].what.(*message); ok {
			name = m.conn.direction(m.toUp)
		} else {
			name = "a call"
		}
	case s.server != nil:
		name = s.server.name
	default:
		name = w.clientName(s.task)
	}
	switch s.kind {
	case goesOn:
		return name + " goes on"
	case again:
		return name + " asks"
	case gives:
		return name + " gives up"
	case tick:
		return until + name
	}
	return name
}

// Learns returns the client that receives an awaited answer in step i, or "".
func (w *World) Learns(i int) string {
	if s := &w.search.steps[i]; s.kind == arrives {
		if m := w.order.pending[s.index].what.(*message); !m.toUp && m.kind != rst && m.conn.waiter != nil {
			return m.conn.client.name
		}
	}
	return ""
}

// Concerns reports whether step i is an offer that concerns a client.
func (w *World) Concerns(i int, client string) bool {
	s := &w.search.steps[i]
	return s.offer && slices.Contains(w.search.offers[s.index].On, client)
}

// until is the prefix of a tick's name.
const until = "until "

// direction returns a message's name on n: "c1→redis-1", and "redis-1→c1" for an
// answer. Further connections of the same two are numbered.
func (n *conn) direction(up bool) string {
	from, to := n.client.name, n.server.name
	if !up {
		from, to = to, from
	}
	name := from + "→" + to
	if n.number > 1 {
		name += "/" + strconv.Itoa(n.number)
	}
	return name
}

// clientName returns the client that runs the script of t.
func (w *World) clientName(t *task) string {
	if i := slices.Index(w.tasks, t); i >= 0 && i < len(w.clients) {
		return w.clients[i].name
	}
	return "a task"
}

// findSteps finds the possible steps, or the first of them: at least enough.
func (w *World) findSteps(enough int) {
	o := &w.search
	o.steps = o.steps[:0]
	busy, waiting := false, false
	for i := range o.pending {
		m, ok := o.pending[i].what.(*message)
		switch {
		case !ok || !o.isFirst(i, m):
		case o.pending[i].at <= w.now:
			busy = true
			o.steps = append(o.steps, step{kind: arrives, index: i})
		default: // the length of the slowing means nothing either
			o.steps = append(o.steps, step{kind: early, index: i})
		}
	}
	if len(o.steps) >= enough {
		return
	}
	for i, t := range w.tasks {
		if !t.parked || t.ended {
			continue
		}
		switch c := t.client; {
		case t.openWait == sleeping:
			busy = busy || t.deadline != never && !w.clients[i].paused
			// Clients that have done nothing yet are interchangeable: they begin
			// in order.
			fresh := t.deadline == never && len(w.clients[i].ops) == 0
			if fresh && waiting {
				continue
			}
			waiting = waiting || fresh
			o.steps = append(o.steps, step{kind: goesOn, task: t, index: -1})
		case t.openWait == lingering && t.outlasts.over():
			o.steps = append(o.steps, step{kind: goesOn, task: t, index: -1})
		case t.openWait == asking && !c.paused && !c.dead:
			if c.round != o.changes {
				o.steps = append(o.steps, step{kind: again, task: t, index: -1})
			}
			o.steps = append(o.steps, step{kind: gives, task: t, index: -1})
		}
	}
	for i := range o.offers {
		if len(o.steps) >= enough {
			return
		}
		if o.offers[i].Open() {
			o.steps = append(o.steps, step{kind: offered, index: i, offer: true})
		}
	}
	if !busy {
		w.addTicks()
	}
	if slices.ContainsFunc(o.steps, func(s step) bool { return !s.offer || !o.offers[s.index].Begins }) {
		return
	}
	for _, t := range w.tasks { // they would wait for ever
		if t.parked && !t.ended && t.openWait == lingering {
			o.steps = append(o.steps, step{kind: goesOn, task: t, index: -1})
		}
	}
}

// isFirst reports whether the message at i is the oldest in its direction.
func (o *search) isFirst(i int, m *message) bool {
	for _, e := range o.pending[:i] {
		if other, ok := e.what.(*message); ok && other.conn == m.conn && other.toUp == m.toUp {
			return false
		}
	}
	return true
}

// addTicks adds the next timers: several if they are due at the same time.
func (w *World) addTicks() {
	o := &w.search
	before := len(o.steps)
	next := never
	add := func(s step) {
		s.kind, s.at = tick, max(s.at, w.now)
		if s.at > next || s.at == never {
			return
		}
		if s.at < next {
			next = s.at
			o.steps = o.steps[:before]
		}
		o.steps = append(o.steps, s)
	}
	for _, t := range w.tasks {
		// A paused client notices its timers when it resumes.
		if t.parked && !t.ended && t.openWait == bound && !(t.client != nil && t.client.paused) {
			add(step{at: t.deadline, task: t, index: -1})
		}
	}
	for _, s := range w.servers {
		if s.runs() {
			if at, ok := s.nextExpiry(); ok {
				add(step{at: at, server: s, index: -1})
			}
		}
	}
	for i := range o.pending {
		if m, ok := o.pending[i].what.(*message); !ok || o.isFirst(i, m) {
			add(step{at: o.pending[i].at, index: i})
		}
	}
	if then := w.now + Passage(w.cfg.Lease); o.dated && o.passed < env.Passages && then < next {
		o.steps = append(o.steps, step{kind: passes, at: then, index: -1})
	}
}

// take takes a step.
func (w *World) take(s step) {
	o := &w.search
	if s.kind == tick || s.kind == passes {
		w.now = s.at
		o.changes++
	}
	switch {
	case s.kind == passes:
		o.passed++
		o.dated = false
	case s.offer:
		if o.offers[s.index].Tells {
			o.changes++
		}
		o.offers[s.index].Do()
	case s.index >= 0:
		o.remove(s.index).what.happen()
	case s.server != nil:
		s.server.expire()
	default:
		switch s.kind {
		case again:
			s.task.client.round = o.changes
		case gives:
			s.task.client.deadline.end = w.now
		}
		s.task.deadline = never // the timer has fired, though its client may be paused
		s.task.run()
	}
}
