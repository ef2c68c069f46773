package harness

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/workloads"
)

// client is the workloads.Client of one client. It records every operation, and
// workloads have no other way to one.
type client struct {
	rec     *recorder
	name    string
	n       int // index among the plan's clients
	task    func()
	end     env.Client
	process int
	armed   []*injection // faults that wait for a point of this client
	dead    atomic.Bool  // a fault ended it, or its worker exited
	kills   int          // how many of them it has survived as a new process
	owner   *client      // the client of this unrequested entry; nil: it is a client itself

	done  bool // its script has ended
	waits bool // its last acquire returned Waits
	asks  int  // the index of its open acquire; 0: none

	acquisition int         // the number of its critical section
	acquire     int         // the index of its last acquire
	value       int64       // of its last write
	open        []openGrant // the grants that it holds, the innermost last
}

// openGrant is a grant that has not been released.
type openGrant struct {
	acquire int // the index of the acquire that got it
	grant   int
}

// innermost returns the client's innermost grant; zero: none. It accesses the guarded
// resource with that grant, like a function that takes the lock without knowing about
// its caller.
func (c *client) innermost() openGrant {
	if n := len(c.open); n > 0 {
		return c.open[n-1]
	}
	return openGrant{}
}

func (c *client) Now() time.Duration    { return c.rec.environment.Now() }
func (c *client) Sleep(d time.Duration) { c.rec.environment.Sleep(d) }
func (c *client) Until() time.Duration  { return c.rec.leaseOf(c.innermost().grant) }

// askAgain reports whether the client asks once more after an uncertain answer, where
// order decides. Servers see it as the first request of a further client: one of two
// clients does it where dates are written, because those locks need three clients to
// fail. It waits until time has passed, its request has arrived and the faults have
// healed. It does so only in its last section, so that the times of the others do not
// change.
func (c *client) askAgain() bool {
	environment, r := c.rec.environment.(env.Ordering), c.rec
	if r.askedAgain || len(r.plan.Clients) > 2 || c.acquisition < r.plan.SectionsOf(c.n) || !environment.Dated() || !environment.Outlast(c.name, func() bool { return !r.askedAgain && r.injector.active == 0 }) {
		return false
	}
	r.askedAgain = true
	return true
}

func (c *client) Next() {
	c.rec.mu.Lock() // an unrequested entry uses the number
	defer c.rec.mu.Unlock()
	c.acquisition++
}

func (c *client) Rand(what string, n int64) int64 {
	return c.rec.environment.Rand(c.name, what, n)
}
func (c *client) Healed() (time.Duration, bool) { return c.rec.injector.healed() }

// killed reports whether the client is dead; for an unrequested entry, its client.
func (c *client) killed() bool {
	if c.owner != nil {
		c = c.owner
	}
	return c.dead.Load()
}

// op describes the operation that invoke has just recorded, with the client's innermost
// grant.
func (c *client) op(index int, timeout time.Duration) env.Op {
	in := c.innermost()
	return env.Op{
		Index: index, Acquisition: c.acquisition, Lock: LockName,
		Grant: in.grant, Acquire: in.acquire, Timeout: timeout,
	}
}

// asking describes the client's last acquire.
func (c *client) asking(unfair bool) env.Op {
	op := c.op(c.acquire, 0)
	op.Acquire, op.Unfair = c.acquire, unfair
	return op
}

// Acquire notes in the history that it asks out of turn, for readers only.
func (c *client) Acquire(timeout time.Duration, unfair bool) workloads.Result {
	return c.ask(history.Acquire, timeout, unfair)
}

func (c *client) CanTry() bool {
	t, ok := c.end.(env.Trier)
	return ok && !c.waits && t.CanTry()
}

func (c *client) Try(timeout time.Duration) workloads.Result {
	return c.ask(history.Try, timeout, false)
}

// ask asks for the lock by an operation f.
func (c *client) ask(f string, timeout time.Duration, unfair bool) workloads.Result {
	text := ""
	if unfair {
		text = "out of turn"
	}
	if !c.waits {
		if c.acquire = c.rec.invoke(c, f, 0, text); c.acquire == 0 {
			return workloads.Dead
		}
	}
	var g env.Grant
	var err error
	if f == history.Try {
		g, err = c.end.(env.Trier).Try(c.asking(unfair), timeout)
	} else {
		g, err = c.end.Acquire(c.asking(unfair), timeout)
	}
	if c.waits = errors.Is(err, env.ErrWaits); c.waits {
		return workloads.Waits
	}
	if err != nil {
		return c.rec.complete(c, f, 0, history.Opt{}, err)
	}
	grant := c.rec.granted(c, f, c.acquire, g)
	if grant == 0 {
		return workloads.Dead
	}
	c.open = append(c.open, openGrant{c.acquire, grant})
	c.rec.injector.reach(c, faults.Point{
		Client: c.name, Acquisition: c.acquisition, Op: history.Acquire, After: true, OK: true,
	})
	return workloads.OK
}

func (c *client) Abandon() workloads.Result {
	c.waits = false
	c.end.(env.Patient).Abandon(c.asking(false))
	return c.rec.complete(c, history.Acquire, 0, history.Opt{}, env.ErrTimeout)
}

func (c *client) Read(timeout time.Duration) workloads.Result {
	grant := c.innermost().grant
	index := c.rec.invoke(c, history.Read, grant, "")
	if index == 0 {
		return workloads.Dead
	}
	v, err := c.end.Read(c.op(index, timeout))
	value := history.Some(v)
	if err != nil {
		value = history.Opt{}
	}
	return c.rec.complete(c, history.Read, grant, value, err)
}

func (c *client) Write(timeout time.Duration) workloads.Result {
	grant := c.innermost().grant
	index := c.rec.invoke(c, history.Write, grant, "")
	if index == 0 {
		return workloads.Dead
	}
	value := c.value
	return c.rec.complete(c, history.Write, grant, history.Some(value), c.end.Write(c.op(index, timeout), value))
}

func (c *client) CanExtend() bool {
	x, ok := c.end.(env.Extender)
	return ok && x.CanExtend(c.innermost().acquire)
}

func (c *client) Extend() workloads.Result {
	grant := c.innermost().grant
	index := c.rec.invoke(c, history.Extend, grant, "")
	if index == 0 {
		return workloads.Dead
	}
	until, err := c.end.(env.Extender).Extend(c.op(index, 0))
	return c.rec.extended(c, grant, until, err)
}

func (c *client) Release() workloads.Result { return c.release(false) }

// ReleaseName records the grant that the client means to release, if it holds one: it
// may have got that under another process number.
func (c *client) ReleaseName() workloads.Result {
	return c.release(true)
}

func (c *client) release(byName bool) workloads.Result {
	grant := c.innermost().grant
	index := c.rec.invoke(c, history.Release, grant, "")
	if index == 0 {
		return workloads.Dead
	}
	var err error
	if !byName {
		err = c.end.Release(c.op(index, 0))
	} else if n, ok := c.end.(env.NameReleaser); ok {
		err = n.ReleaseName(c.op(index, 0))
	} else {
		err = env.ErrNoReleaseName
	}
	c.open = c.open[:max(0, len(c.open)-1)]
	return c.rec.complete(c, history.Release, grant, history.Opt{}, err)
}
