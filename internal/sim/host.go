package sim

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// host is the locks.Host of a client.
type host client

// Now returns the wall clock's reading.
func (h *host) Now() time.Time {
	(*client)(h).spin()
	h.journal.clock(h.world.now)
	h.world.noteDate(true)
	return time.Unix(0, int64(h.clock.wall(h.world.now)))
}

// Mono returns the monotonic clock's reading.
func (h *host) Mono() time.Duration {
	(*client)(h).spin()
	h.journal.clock(h.world.now)
	return h.clock.mono(h.world.now)
}

// Left returns how long ctx still lasts. In a run in which order decides it may
// end at any time.
func (h *host) Left(ctx context.Context) (time.Duration, bool) {
	end := endOf(ctx)
	if end == never {
		return 0, false
	}
	now := h.world.now
	return max(0, h.clock.mono(max(end, now))-h.clock.mono(now)), true
}

// Sleep waits for d or until ctx ends.
func (h *host) Sleep(ctx context.Context, d time.Duration) error {
	return (*client)(h).sleep(ctx, d)
}

// Backoff waits for a random time or until ctx ends.
func (h *host) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	if h.world.order != nil {
		return (*client)(h).ask(ctx)
	}
	if spread > 0 {
		shortest += time.Duration(h.Rand("backoff", int64(spread)))
	}
	return h.Sleep(ctx, shortest)
}

// Mark marks the beginning of a loop for a search.
func (h *host) Mark(label string, live ...int64) {
	if h.world.order != nil {
		h.journal.mark(label, live)
		h.round = h.world.order.changes
	}
}

// Rand draws a random number for the client.
func (h *host) Rand(what string, n int64) int64 {
	if h.world.order != nil {
		return 0
	}
	return h.world.Rand(h.name, what, n)
}

// Unique returns a different string at each call.
func (h *host) Unique() string { return h.world.unique((*client)(h)) }

// Op returns the operation that runs on the host, and Dead reports whether the
// client has been killed. Both are for test locks that work without a network and
// know everything, to check the judge.
func (h *host) Op() env.Op { return h.operation.Op }

// Dead: see Op.
func (h *host) Dead() bool { return h.dead }

func (c *client) sleep(ctx context.Context, d time.Duration) error {
	c.mustLive()
	c.spin()
	w := c.world
	until := w.now + c.clock.trueDuration(max(d, 0))
	if wait := min(until, endOf(ctx)); wait > w.now {
		w.current.sleeping = true
		c.park(wait)
		w.current.sleeping = false
	}
	return c.contextErr(endOf(ctx))
}

// ask is Backoff in a run in which order decides: it ends at any time after an
// event that may change the answer.
func (c *client) ask(ctx context.Context) error {
	c.mustLive()
	c.world.current.openWait = asking
	c.park(never)
	return c.contextErr(endOf(ctx))
}

// contextErr returns the error of a context that ends at end, or nil before.
func (c *client) contextErr(end time.Duration) error {
	switch {
	case end == stoppedEnd:
		return context.Canceled
	case c.world.now >= end:
		c.journal.number(1)
		return context.DeadlineExceeded
	}
	c.journal.number(0)
	return nil
}

// spin counts an action that takes no virtual time as an event. A lock that does
// nothing else would never let the scheduler run: when the budget is used up it
// must, and the run ends.
func (c *client) spin() {
	w := c.world
	if w.recent++; w.recent > w.share {
		c.park(w.now)
	}
}

// deadline is a context that ends at a virtual time. Nothing can wait for it on a
// channel: only host and port wait, and they know the time.
type deadline struct {
	client *client
	end    time.Duration
}

// Deadline returns a virtual time, which means nothing to real clocks.
func (d *deadline) Deadline() (time.Time, bool) { return time.Unix(0, int64(epoch+d.end)), true }

// Done returns nil: see deadline.
func (d *deadline) Done() <-chan struct{} { return nil }

// Err returns the context's error, or nil before the deadline.
func (d *deadline) Err() error { return d.client.contextErr(d.end) }

// Value lets endOf find d below other contexts.
func (d *deadline) Value(key any) any {
	if _, ok := key.(endKey); ok {
		return endingContext(d)
	}
	return nil
}

func (d *deadline) at() time.Duration { return d.end }

// endingContext is a context of this package: it knows when it ends, in virtual time.
type endingContext interface{ at() time.Duration }

type endKey struct{}

// stoppedEnd is the end of a stopped context.
const stoppedEnd time.Duration = -1

// endOf returns the virtual time at which ctx ends.
func endOf(ctx context.Context) time.Duration {
	if e, ok := ctx.(endingContext); ok {
		return e.at()
	}
	if e, ok := ctx.Value(endKey{}).(endingContext); ok {
		return e.at()
	}
	return never
}
