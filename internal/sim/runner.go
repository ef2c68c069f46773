package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// errNeverEntered is the error of an acquire if Run returns without an error and
// without calling the critical section.
var errNeverEntered = errors.New("the lock has not called the critical section")

// visit is one call of a Runner. To the client's caller it is an acquire and a
// release. The lock's own task executes it, and stops in the first critical
// section until the caller releases.
type visit struct {
	client    *client
	operation *operation // the acquire
	caller    *task      // waits for the lock; nil without one
	inside    *task      // the lock's task, in the caller's critical section
	lease     locks.Lease
	abandoned bool
	released  bool
	ended     bool
	err       error // the error that it returned
	run       locks.Task
}

// visit returns the visit that this acquire began, or nil.
func (c *client) visit(acquire int) *visit {
	i := slices.IndexFunc(c.visits, func(v *visit) bool { return v.operation.Index == acquire })
	if i < 0 {
		return nil
	}
	return c.visits[i]
}

// enter makes the lock call the critical section, or continues to wait for that.
func (c *client) enter(r locks.Runner, op env.Op, timeout time.Duration) (lease locks.Lease, err error) {
	v := c.visit(op.Index)
	if v == nil {
		v = &visit{client: c, operation: c.operation}
		c.visits = append(c.visits, v)
		v.run = c.Go(func(ctx context.Context) {
			v.err = r.Run(ctx, op.Lock, v.critical)
			v.ended = true
			v.wake()
		})
	}
	v.operation.waits = false
	v.wait(c.net.now+timeout, func() bool { return v.inside != nil })
	switch {
	case v.inside != nil:
		return v.lease, nil
	case v.ended:
		c.leave(v)
		return nil, cmp.Or(v.err, errNeverEntered)
	}
	v.operation.waits = true
	return nil, env.ErrWaits
}

// exit ends the caller's critical section, and waits until the lock is done with
// it.
func (c *client) exit(v *visit) error {
	v.released = true
	v.inside.operation = c.operation // from here on it belongs to the release
	v.inside.wakeAt(c.net.now)
	v.wait(never, func() bool { return false })
	c.leave(v)
	return v.err
}

func (c *client) leave(v *visit) {
	c.visits = slices.DeleteFunc(c.visits, func(o *visit) bool { return o == v })
}

// wait makes the running task, the caller's, wait for the lock.
func (v *visit) wait(until time.Duration, enough func() bool) {
	w := v.client.net
	for !v.ended && !enough() && w.now < until {
		v.caller = w.current
		v.client.park(until)
		v.caller = nil
	}
}

// wake makes the caller check again.
func (v *visit) wake() {
	if v.caller != nil {
		v.caller.wakeAt(v.client.net.now)
	}
}

// critical is the critical section that the lock calls.
func (v *visit) critical(_ context.Context, lease locks.Lease) {
	c := v.client
	c.mustLive()
	t := c.net.current
	if v.inside == nil && !v.abandoned {
		v.inside, v.lease = t, lease
		v.wake()
		for !v.released {
			c.park(never)
		}
		return
	}
	v.runUncalled(t, lease)
}

// runUncalled runs a critical section that the caller did not request. The lock's
// task runs it, outside of the host like a script of the harness.
func (v *visit) runUncalled(t *task, lease locks.Lease) {
	c := v.client
	operation := t.operation
	t.client = nil
	g := c.grantOf(lease)
	g.Stands = v.operation.Index // the entry in the store was made for that operation
	op := c.net.observer.Enter(c.name, g)
	if op.Index != 0 {
		c.leases = append(c.leases, heldLease{op.Index, op.Lock, lease})
		c.net.observer.Section(c.name, op)
		c.leases = slices.DeleteFunc(c.leases, func(g heldLease) bool { return g.acquire == op.Index })
	}
	t.client, t.operation = &c.host, operation
	c.waitWhileStopped(false)
}

// Abandon implements env.Patient.
func (c *client) Abandon(op env.Op) {
	if v := c.visit(op.Index); v != nil {
		v.abandoned = true
		v.operation.over = true
		if c.net.cfg.Lock.GivesUp {
			v.run.Stop()
		}
	}
}

// grantOf returns the grant that a lease describes.
func (c *client) grantOf(lease locks.Lease) (g env.Grant) {
	if d, ok := lease.(locks.Deadliner); ok {
		g.ValidUntil = c.trueTime(d.Until())
	}
	if f, ok := lease.(locks.Fencer); ok {
		g.Token = f.Token()
	}
	return g
}

// begin returns the operation of a call: a new one, except when an acquire goes
// on.
func (c *client) begin(op *env.Op, kind string) *operation {
	if len(c.visits) > 0 && kind == history.Acquire {
		if v := c.visit(op.Index); v != nil {
			return v.operation
		}
	}
	o := c.operations.next()
	*o = operation{} // no composite literal: that would be built elsewhere and copied
	o.Op, o.kind = *op, kind
	return o
}
