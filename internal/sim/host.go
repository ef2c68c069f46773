package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// host is where a client's code runs: its clocks, its waits and its tasks, and the
// faults that stop them. It is also the locks.Host of the client's lock.
type host struct {
	sched *scheduler
	name  string
	n     int // index among the clients
	clock clock

	armed    bool // a fault waits for one of its points
	paused   bool
	hung     bool
	dead     bool
	runnable []*task // what became runnable during a pause or a hang
	waiting  []*task // tasks that step onto the host, or leave a point, when that ends

	deadline  deadline   // of the running acquire
	operation *operation // the running one, or the last one

	ends []entryEnd // of the grants of code outside

	// In a run in which order decides:
	journal *journal // all that it has learnt; nil in other runs
	ops     []int    // the indices of its operations so far
	round   int      // order.changes when its loop last began
	uniques int      // strings generated so far

	// Memory for a run:
	operations  pool[operation]
	backgrounds pool[background]
	notes       journal
}

// operation is a call from the client's caller. Tasks that it has started belong
// to it even after its end.
type operation struct {
	env.Op
	kind     string // its name
	over     bool
	waits    bool         // its caller knows that it goes on
	requests int          // sent so far
	answers  int          // that came so far
	answered int          // number of the last request with an answer
	sent     fmt.Stringer // the command of that request
	calls    int          // its calls of the port so far
}

// reset prepares h for a run.
func (h *host) reset(k *scheduler, name string, n int) {
	*h = host{
		sched: k, name: name, n: n, deadline: deadline{host: h},
		runnable: h.runnable[:0], waiting: h.waiting[:0], ops: h.ops[:0], ends: h.ends[:0],
		operations: h.operations, backgrounds: h.backgrounds, notes: h.notes,
	}
	h.operations.recycle()
	h.backgrounds.recycle()
	if k.order != nil {
		h.journal = &h.notes
		h.journal.reset()
	}
}

// waitWhileStopped blocks the running task while its client is paused or hung. A
// hang blocks only the task of the caller and, with struck, this one.
func (h *host) waitWhileStopped(struck bool) {
	for (h.paused || h.hung && (struck || h.sched.current.background == nil)) && !h.dead {
		h.waiting = append(h.waiting, h.sched.current)
		h.park(never)
	}
	h.mustLive()
}

// mustLive ends the running task's operation if the client is dead.
func (h *host) mustLive() {
	if h.dead {
		panic(unwindPanic{})
	}
}

// trueTime returns the true time at which the client's monotonic clock shows
// until. 0 stays 0: no limit.
func (h *host) trueTime(until time.Duration) time.Duration {
	if until == 0 {
		return 0
	}
	return h.clock.when(until)
}

// until returns the end of a timeout that begins now; 0: the default one, T/4.
func (h *host) until(timeout time.Duration) time.Duration {
	if timeout == 0 {
		timeout = h.sched.cfg.Lease / 4
	}
	return h.sched.now + h.clock.trueDuration(timeout)
}

func (h *host) park(deadline time.Duration) (answered bool) {
	answered = h.sched.current.park(deadline)
	h.mustLive()
	return answered
}

// wake resumes every task that the pause stopped.
func (h *host) wake() {
	for _, t := range h.runnable {
		t.wakeAt(h.sched.now)
	}
	for _, t := range h.waiting {
		t.wakeAt(h.sched.now)
	}
	h.runnable, h.waiting = h.runnable[:0], h.waiting[:0]
}

// Now returns the wall clock's reading.
func (h *host) Now() time.Time {
	h.spin()
	h.journal.clock(h.sched.now)
	h.sched.noteDate(true)
	return time.Unix(0, int64(h.clock.wall(h.sched.now)))
}

// Mono returns the monotonic clock's reading.
func (h *host) Mono() time.Duration {
	h.spin()
	h.journal.clock(h.sched.now)
	return h.clock.mono(h.sched.now)
}

// Left returns how long ctx still lasts. In a run in which order decides it may
// end at any time.
func (h *host) Left(ctx context.Context) (time.Duration, bool) {
	end := endOf(ctx)
	if end == never {
		return 0, false
	}
	now := h.sched.now
	return max(0, h.clock.mono(max(end, now))-h.clock.mono(now)), true
}

// Backoff waits for a random time or until ctx ends.
func (h *host) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	if h.sched.order != nil {
		return h.ask(ctx)
	}
	if spread > 0 {
		shortest += time.Duration(h.Rand("backoff", int64(spread)))
	}
	return h.Sleep(ctx, shortest)
}

// Mark marks the beginning of a loop for a search.
func (h *host) Mark(label string, live ...int64) {
	if h.sched.order != nil {
		h.journal.mark(label, live)
		h.round = h.sched.order.changes
	}
}

// Rand draws a random number for the client.
func (h *host) Rand(what string, n int64) int64 {
	if h.sched.order != nil {
		return 0
	}
	return h.sched.Rand(h.name, what, n)
}

// Unique returns a different string at each call.
func (h *host) Unique() string {
	n := &h.sched.uniques
	if h.sched.order != nil {
		n = &h.uniques // one count for all clients would make their order part of every state
	}
	*n++
	return h.sched.text.numberedName(h.name, *n)
}

// Op returns the operation that runs on the host, and Dead reports whether the
// client has been killed. Both are for test locks that work without a network and
// know everything, to check the judge.
func (h *host) Op() env.Op { return h.operation.Op }

// Dead: see Op.
func (h *host) Dead() bool { return h.dead }

// Sleep waits for d or until ctx ends.
func (h *host) Sleep(ctx context.Context, d time.Duration) error {
	h.mustLive()
	h.spin()
	k := h.sched
	until := k.now + h.clock.trueDuration(max(d, 0))
	if wait := min(until, endOf(ctx)); wait > k.now {
		k.current.sleeping = true
		h.park(wait)
		k.current.sleeping = false
	}
	return h.contextErr(endOf(ctx))
}

// ask is Backoff in a run in which order decides: it ends at any time after an
// event that may change the answer.
func (h *host) ask(ctx context.Context) error {
	h.mustLive()
	h.sched.current.openWait = asking
	h.park(never)
	return h.contextErr(endOf(ctx))
}

// contextErr returns the error of a context that ends at end, or nil before.
func (h *host) contextErr(end time.Duration) error {
	switch {
	case end == stoppedEnd:
		return context.Canceled
	case h.sched.now >= end:
		h.journal.number(1)
		return context.DeadlineExceeded
	}
	h.journal.number(0)
	return nil
}

// spin counts an action that takes no virtual time as an event. A lock that does
// nothing else would never let the scheduler run: when the budget is used up it
// must, and the run ends.
func (h *host) spin() {
	k := h.sched
	if k.recent++; k.recent > k.share {
		h.park(k.now)
	}
}
