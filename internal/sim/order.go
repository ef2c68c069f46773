package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// order decides what happens next in a world in which only order counts: a
// message takes no time, and what may last for any time ends when its turn
// comes. It is for searches through all that can happen in a small scope, and
// for what they have found: see InOrder.
//
// The steps of such a world are
//   - the first message of a connection, in one direction, arrives;
//   - something ends whose length means nothing: a sleep of the harness, a
//     Backoff of a client, the patience of its caller, a fault that heals;
//   - a fault strikes;
//   - time goes on to the next timer: of a task, a server, a message that was
//     slowed. Before, all messages arrive, and all clients that work, and are
//     not kept from it, have done their work: what nobody disturbs takes less
//     time than a lease;
//   - where dates are written down, time passes at such a moment although no timer
//     is due: they are over then. See dates.
type order struct {
	pick  func(env.Crossing) int
	names []string // to follow; what is not among them goes on by itself
	at    int      // the next of them

	taken     []string // only where somebody follows names
	defaulted int
	unused    int

	pending []event // messages under way and calls to come, in the order of their making
	front   int     // how many of them go before the others: what a partition had held
	ready   []*task // that run before anything else happens
	offers  []env.Offer
	steps   []step
	order   []int // of pending, in AppendState
	calls   []int // of their operations
	changes int   // how often something changed that a client could find out

	dated  bool // somebody has learnt a date since time passed last
	wall   bool // from a wall clock: it may stand anywhere, as a text
	passed int  // how often time passed
}

// Passage is how long that takes: what a lock writes down with a clock in its hand
// is the end of a lease, or of something shorter, with a margin.
func Passage(lease time.Duration) time.Duration { return lease + lease/2 }

// dates notes that somebody learns a date that may be written down and compared
// later: from a wall clock, or it is MySQL that writes it. What a monotonic clock
// shows is no such date: locks keep it for themselves, and compare it with what passes
// by a timer of a server, of a message or of their own.
func (w *World) dates(wall bool) {
	if o := w.order; o != nil {
		o.dated, o.wall = true, o.wall || wall
	}
}

// Dated reports whether somebody has learnt such a date.
func (w *World) Dated() bool { return w.order.dated || w.order.passed > 0 }

// Outlast has the running task, which is the client's, wait until dates have passed,
// nothing is under way from or to the client, and open says so. It returns false if
// nothing else can happen before that.
func (w *World) Outlast(client string, open func() bool) bool {
	t := w.current
	t.outlasts = outlasting{w.find(client), w.order.passed, open}
	t.free = lingering
	t.park(never)
	return t.outlasts.over(w)
}

// outlasting is what a task waits for in Outlast.
type outlasting struct {
	client *client
	passed int // World.order.passed when it began
	open   func() bool
}

func (o *outlasting) over(w *World) bool {
	return w.order.passed > o.passed && o.open() && !slices.ContainsFunc(w.order.pending, func(e event) bool {
		m, ok := e.what.(*message)
		return ok && m.conn.client == o.client
	})
}

// Idle tells whether it is all the same if a client is paused now or later: it
// does nothing, for as long as it likes, or its request is still under way.
func (w *World) Idle(client string) bool {
	c := w.find(client)
	t := w.tasks[c.n]
	if t.parked && (t.free == asking || t.free == lingering || t.free == sleeping && t.deadline == never) {
		return true
	}
	for i := range w.order.pending {
		if m, ok := w.order.pending[i].what.(*message); ok && m.toUp && m.conn.client == c && m.conn.waiter != nil && w.order.pending[i].at <= w.now {
			return true
		}
	}
	return false
}

// Ordered tells whether order decides; Offer is for such worlds only.
func (w *World) Ordered() bool { return w.order != nil }

// Offer adds what may happen.
func (w *World) Offer(o env.Offer) { w.order.offers = append(w.order.offers, o) }

// reset makes o ready for a run.
func (o *order) reset() {
	*o = order{
		pick: o.pick, names: o.names, pending: o.pending[:0], ready: o.ready[:0],
		offers: o.offers[:0], steps: o.steps[:0], order: o.order[:0], calls: o.calls[:0],
	}
}

// maxSteps is what a run in which order decides may have: it is small, or it
// goes round and round.
const maxSteps = 100_000

// runInOrder is Run where order decides.
func (w *World) runInOrder() error {
	o := w.order
	for {
		for len(o.ready) > 0 {
			t := o.ready[0]
			o.ready = o.ready[1:]
			if t.parked && !t.ended && t.deadline <= w.now {
				t.run()
			}
		}
		o.ready = o.ready[:0]
		if w.alive == 0 {
			o.steps = o.steps[:0]
			return nil
		}
		if w.events++; w.events > maxSteps {
			return fmt.Errorf("sim: more than %d steps, at %v of virtual time: something goes round and round", maxSteps, w.now)
		}
		w.enabled()
		if len(o.steps) == 0 {
			return errors.New("sim: every task waits and nothing will happen")
		}
		i := 0
		if o.pick != nil {
			if i = o.pick(w); i < 0 {
				return env.ErrStopped
			}
		} else {
			i = o.follow()
		}
		w.take(o.steps[i])
	}
}

// follow is the position of the next step where names are followed.
func (o *order) follow() int {
	for ; o.at < len(o.names); o.at++ {
		name, settled := o.names[o.at], true
		for i := range o.steps {
			if o.steps[i].is(name) {
				o.taken = append(o.taken, name)
				o.at++
				return i
			}
			settled = settled && o.steps[i].kind != arrives && o.steps[i].kind != goesOn
		}
		if !settled && strings.HasPrefix(name, until) {
			break // time goes on when all else has come to rest
		}
		o.unused++
	}
	o.defaulted++
	i := o.byItself()
	o.taken = append(o.taken, o.steps[i].String())
	return i
}

// byItself is the step that comes where nobody decides: what may last lasts
// until nothing else can happen, so that one sees it.
func (o *order) byItself() int {
	for _, k := range []stepKind{arrives, goesOn, tick, passes, again, early, offered, gives} {
		for i := range o.steps {
			if s := &o.steps[i]; s.kind == k && !(s.offer && o.offers[s.index].Begins) {
				return i
			}
		}
	}
	return 0
}

func (o *order) push(e event) { o.pending = append(o.pending, e) }

// pushFirst puts e before what was sent later, and after what was put there.
func (o *order) pushFirst(e event) {
	o.pending = append(o.pending, event{})
	copy(o.pending[o.front+1:], o.pending[o.front:])
	o.pending[o.front] = e
	o.front++
}

// remove takes out the event at i.
func (o *order) remove(i int) event {
	e := o.pending[i]
	o.pending = append(o.pending[:i], o.pending[i+1:]...)
	if i < o.front {
		o.front--
	}
	return e
}
