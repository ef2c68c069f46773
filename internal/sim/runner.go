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

// errNeverEntered is what an acquire ends with whose Run has ended without an
// entry and without an error, which no Runner should.
var errNeverEntered = errors.New("the lock has not called the critical section")

// visit is one call of a Runner: an acquire and a release to the client's
// caller. The lock's own task goes through it, and stands still in the first
// entry until the caller releases.
type visit struct {
	client    *client
	operation *operation // the acquire
	caller    *task      // waits for the lock; nil: nobody does
	inside    *task      // is in the caller's entry
	lease     locks.Lease
	abandoned bool
	released  bool
	ended     bool
	err       error // what it ended with
	run       locks.Task
}

// visit is the one that began with that acquire.
func (c *client) visit(acquire int) *visit {
	i := slices.IndexFunc(c.visits, func(v *visit) bool { return v.operation.Index == acquire })
	if i < 0 {
		return nil
	}
	return c.visits[i]
}

// enter has the lock call the critical section, or goes on waiting for that.
func (c *client) enter(r locks.Runner, op env.Op, timeout time.Duration) (lease locks.Lease, err error) {
	v := c.visit(op.Index)
	if v == nil {
		v = &visit{client: c, operation: c.operation}
		c.visits = append(c.visits, v)
		v.run = (*host)(c).Go(func(ctx context.Context) {
			v.err = r.Run(ctx, op.Lock, v.critical)
			v.ended = true
			v.wake()
		})
	}
	v.operation.waits = false
	v.wait(c.world.now+timeout, func() bool { return v.inside != nil })
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

// exit ends the caller's entry, and waits until the lock is through with it.
func (c *client) exit(v *visit) error {
	v.released = true
	v.inside.operation = c.operation // what it does from here on is the release
	v.inside.wakeAt(c.world.now)
	v.wait(never, func() bool { return false })
	c.leave(v)
	return v.err
}

func (c *client) leave(v *visit) {
	c.visits = slices.DeleteFunc(c.visits, func(o *visit) bool { return o == v })
}

// wait lets the running task, which is the caller's, wait for the lock.
func (v *visit) wait(until time.Duration, enough func() bool) {
	w := v.client.world
	for !v.ended && !enough() && w.now < until {
		v.caller = w.current
		v.client.park(until)
		v.caller = nil
	}
}

// wake lets the caller see what has changed.
func (v *visit) wake() {
	if v.caller != nil {
		v.caller.wakeAt(v.client.world.now)
	}
}

// critical is the critical section, as the lock calls it.
func (v *visit) critical(_ context.Context, lease locks.Lease) {
	c := v.client
	c.mustLive()
	t := c.world.current
	if v.inside == nil && !v.abandoned {
		v.inside, v.lease = t, lease
		v.wake()
		for !v.released {
			c.park(never)
		}
		return
	}
	v.uncalled(t, lease)
}

// uncalled goes through a critical section that the caller has not asked for,
// in the lock's task: it steps off the host, as a script of the harness does.
func (v *visit) uncalled(t *task, lease locks.Lease) {
	c := v.client
	operation := t.operation
	t.client = nil
	g := c.grantOf(lease)
	g.Stands = v.operation.Index // what is in the store was made for that one
	op := c.world.observer.Enter(c.name, g)
	if op.Index != 0 {
		c.leases = append(c.leases, granted{op.Index, op.Lock, lease})
		c.world.observer.Section(c.name, op)
		c.leases = slices.DeleteFunc(c.leases, func(g granted) bool { return g.acquire == op.Index })
	}
	t.client, t.operation = c, operation
	c.stand(false)
}

// Abandon: see env.Patient.
func (c *client) Abandon(op env.Op) {
	if v := c.visit(op.Index); v != nil {
		v.abandoned = true
		v.operation.over = true
		if c.world.cfg.Lock.GivesUp {
			v.run.Stop()
		}
	}
}

// grantOf is what a lease says of itself.
func (c *client) grantOf(lease locks.Lease) (g env.Grant) {
	if d, ok := lease.(locks.Deadliner); ok {
		g.ValidUntil = c.trueTime(d.Until())
	}
	if f, ok := lease.(locks.Fencer); ok {
		g.Token = f.Token()
	}
	return g
}

// begin is the operation that a call of the caller's is: a new one, but for an
// acquire that goes on.
func (c *client) begin(op env.Op, kind string) *operation {
	if v := c.visit(op.Index); v != nil && kind == history.Acquire {
		return v.operation
	}
	o := c.world.memory.operations.next()
	*o = operation{Op: op, kind: kind}
	return o
}
