package sim

import (
	"context"
	"fmt"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// maxPortCalls is the limit of port calls in one operation. It replaces the limit of
// a real stack.
const maxPortCalls = 3_000

// countCall counts a call of the port, and returns an error if it cannot be made.
func (h *host) countCall(ctx context.Context) error {
	h.mustLive()
	o := h.sched.current.operation
	if o.calls++; o.calls > maxPortCalls && !o.over {
		h.dead = true
		panic(unwindPanic{})
	}
	if err := ctx.Err(); err != nil {
		return locks.Definite(err)
	}
	return nil
}

// numberedRequest is one request of an operation, with a point before it and one after
// it.
type numberedRequest struct {
	operation *operation // nil: its points are not announced, so nothing else is known of it
	n         int
	sends     fmt.Stringer // its command
}

// Command is a command of code outside.
type Command interface {
	fmt.Stringer
	// Form returns the command with what tells it from others of its name, such as "SET NX".
	Form() string
}

// beginRequest counts a request of the running task and announces the point before it.
func (h *host) beginRequest(sends fmt.Stringer) numberedRequest {
	h.sched.requests++
	if !h.armed {
		return numberedRequest{}
	}
	o := h.sched.current.operation
	o.requests++
	r := numberedRequest{o, o.requests, sends}
	h.point(r, r.n == h.lastRequest(o), false)
	return r
}

// finish announces the point after a request. Requests may be sent side by side, so the
// last answer may be that of any of them: then there is a second point, after the last
// one.
func (h *host) finish(r numberedRequest) {
	o := r.operation
	if o == nil {
		return
	}
	o.answered, o.sent = r.n, r.sends
	o.answers++
	last := o.answers == h.lastRequest(o)
	h.point(r, last && r.n == o.answers, true)
	if last && r.n != o.answers {
		r.n = o.answers
		h.point(r, true, true)
	}
}

// lastRequest returns how many requests an undisturbed operation has.
func (h *host) lastRequest(o *operation) int {
	if o.kind == history.Acquire {
		return h.sched.cfg.Lock.Steps.Acquire
	}
	return h.sched.cfg.Lock.Steps.Release
}

// point announces a point of an operation if a fault waits for one. Background work
// after the operation's end has no points.
func (h *host) point(r numberedRequest, last, after bool) {
	if h.armed && !r.operation.over {
		h.announce(r, last, after)
	}
}

// announce announces a point. A fault may pause, hang or kill the client there.
func (h *host) announce(r numberedRequest, last, after bool) {
	hung := h.hung
	h.sched.observer.Point(h.name, r.operation.Op, h.pointOf(r, last, after))
	h.waitWhileStopped(h.hung && !hung)
}

func (h *host) pointOf(r numberedRequest, last, after bool) faults.Point {
	o := r.operation
	p := faults.Point{Client: h.name, Acquisition: o.Acquisition, Op: o.kind, After: after, Request: r.n, Last: last}
	if r.sends != nil {
		p.Sends = r.sends.String()
		p.Command = p.Sends
		if c, ok := r.sends.(Command); ok {
			p.Command = c.Form()
		}
	}
	if !after && o.sent != nil && o.answered == r.n-1 {
		p.Sent = o.sent.String()
	}
	return p
}
