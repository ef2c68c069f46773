package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// search takes the steps of a world in which only order counts: for exhaustive
// searches of a small scope and for replays of what they find.
//
// The steps of such a world are:
//
//   - The first message of a connection, in one direction, arrives.
//   - A wait of unspecified length ends: a sleep of the harness, a Backoff of a client,
//     the patience of its caller, the duration of a fault.
//   - A fault strikes.
//   - Time advances to the next timer: of a task, a server, or a slowed message. Before
//     that all messages arrive, and all clients that can work finish their work:
//     undisturbed work takes less time than a lease.
//   - In a world with dates, time may pass at such a moment without a timer: the dates
//     are over then. See noteDate.
type search struct {
	order
	path  []uint8 // the first steps
	pick  func(env.Crossing) int
	names []string // without pick: the steps to follow; others are taken by default
	at    int      // index of the next of path or names

	taken     []string // only if names are followed
	defaulted int
	unused    int

	offers []env.Offer
	steps  []step
	sorted []int // indices of pending, in AppendState
	calls  []int // the operations of these
}

// Passage is the time that passes at once in a run with dates. A lock's date is
// at most the end of a lease; Passage adds a margin.
func Passage(lease time.Duration) time.Duration { return lease + lease/2 }

// Dated reports whether a client has learnt such a date.
func (w *World) Dated() bool { return w.order.dated || w.order.passed > 0 }

// Outlast makes the client's running task wait until dates have passed, no
// message travels from or to the client, and open returns true. It returns false
// if nothing else can happen before that.
func (w *World) Outlast(client string, open func() bool) bool {
	t := w.current
	c, passed := &w.find(client).endpoint, w.order.passed
	over := func() bool {
		return w.order.passed > passed && open() && !slices.ContainsFunc(w.order.pending, func(e event) bool {
			m, ok := e.what.(*message)
			return ok && m.conn.client == c
		})
	}
	t.outlasts = outlastWait{passed, over}
	t.openWait = lingering
	t.park(never)
	return over()
}

// Idle reports whether pausing a client now is equivalent to pausing it later: it
// waits for an unspecified time, or its request is still under way.
func (w *World) Idle(client string) bool {
	c := w.find(client)
	t := w.tasks[c.n]
	if t.parked && (t.openWait == asking || t.openWait == lingering || t.openWait == sleeping && t.deadline == never) {
		return true
	}
	for i := range w.order.pending {
		if m, ok := w.order.pending[i].what.(*message); ok && m.toUp && m.conn.client == &c.endpoint && m.conn.waiter != nil && w.order.pending[i].at <= w.now {
			return true
		}
	}
	return false
}

// Ordered reports whether order decides. Offer is only for such worlds.
func (w *World) Ordered() bool { return w.order != nil }

// Offer adds a possible step.
func (w *World) Offer(o env.Offer) { w.search.offers = append(w.search.offers, o) }

// reset prepares s for a run with the decisions of d, and reports whether order
// decides there.
func (s *search) reset(d env.Decisions) bool {
	*s = search{
		path: d.Path, pick: d.Pick, names: d.Follow, order: order{pending: s.pending[:0], ready: s.ready[:0]},
		offers: s.offers[:0], steps: s.steps[:0], sorted: s.sorted[:0], calls: s.calls[:0],
	}
	if d.Pick != nil {
		s.names = nil
	} else {
		s.path = nil
	}
	return d.Pick != nil || d.Follow != nil
}

// maxSteps is the limit of steps in a run in which order decides. Such runs are
// small, so a longer one is an endless loop.
const maxSteps = 100_000

// runInOrder is Run for a world in which order decides.
func (w *World) runInOrder() error {
	o := &w.search
	for {
		for i := 0; i < len(o.ready); i++ { // one may add another
			t := o.ready[i]
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
		if o.at < len(o.path) {
			i := int(o.path[o.at])
			o.at++
			w.findSteps(i + 1)
			w.take(o.steps[i])
			continue
		}
		w.findSteps(math.MaxInt)
		if len(o.steps) == 0 {
			return errors.New("sim: every task waits and nothing will happen")
		}
		i := 0
		if o.pick != nil {
			if i = o.pick(w); i < 0 {
				return env.ErrStopped
			}
		} else {
			i = w.follow()
		}
		w.take(o.steps[i])
	}
}

// follow returns the index of the next step, by name if possible, else by
// default.
func (w *World) follow() int {
	o := &w.search
	for ; o.at < len(o.names); o.at++ {
		name, settled := o.names[o.at], true
		for i := range o.steps {
			if w.StepName(i) == name {
				o.taken = append(o.taken, name)
				o.at++
				return i
			}
			settled = settled && o.steps[i].kind != arrives && o.steps[i].kind != goesOn
		}
		if !settled && strings.HasPrefix(name, until) {
			break // time advances only when all else has come to rest
		}
		o.unused++
	}
	o.defaulted++
	i := o.defaultStep()
	o.taken = append(o.taken, w.StepName(i))
	return i
}

// defaultStep returns the default step. It lets every wait last until nothing else
// can happen, so that its effects show.
func (o *search) defaultStep() int {
	for _, k := range []stepKind{arrives, goesOn, tick, passes, again, early, offered, gives} {
		for i := range o.steps {
			if s := &o.steps[i]; s.kind == k && !(s.offer && o.offers[s.index].Begins) {
				return i
			}
		}
	}
	return 0
}
