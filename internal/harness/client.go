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

// client is the workloads.Client of one client: no operation can be forgotten
// to be recorded, because there is no other way to one.
type client struct {
	rec     *recorder
	name    string
	n       int // among the plan's clients
	task    func()
	end     env.Client
	process int
	armed   []*injection // faults that wait for a point of this client's
	dead    atomic.Bool  // a fault ended it, or it ended by itself
	of      *client      // whose entry this is, that nobody has asked for; nil: its own

	done  bool // its script has ended
	waits bool // for the acquire that began last
	asks  int  // the index of its open acquire, as the recorder has it; 0: none

	acquisition int       // the critical section that it is in
	acquire     int       // the index of the acquire that began last
	open        []opening // what it holds, as far as it knows, the innermost last
}

// opening is a grant that has not been given back.
type opening struct {
	acquire int // the index of the acquire that got it
	grant   int
}

// inside is the innermost of what the client holds; zero: it holds nothing. What
// it does to the guarded resource it does with that grant, as a function does
// that takes the lock itself and knows nothing of its caller's.
func (c *client) inside() opening {
	if n := len(c.open); n > 0 {
		return c.open[n-1]
	}
	return opening{}
}

// leave takes that from it.
func (c *client) leave() {
	if n := len(c.open); n > 0 {
		c.open = c.open[:n-1]
	}
}

func (c *client) Now() time.Duration    { return c.rec.place.Now() }
func (c *client) Sleep(d time.Duration) { c.rec.place.Sleep(d) }
func (c *client) Until() time.Duration  { return c.rec.leaseOf(c.inside().grant) }

// again reports whether the client asks once more, where order decides and it has not
// learnt what came of its request. To servers that is what a further client's first
// request is: one of two clients does where dates are written, as their locks need three
// to fail. It waits until time has passed, its request is no longer under way and the
// faults have healed, and does so in the last of its sections, so that the others come
// when they come.
func (c *client) again() bool {
	place, r := c.rec.place.(env.Ordering), c.rec
	if r.askedAgain || len(r.plan.Clients) > 2 || c.acquisition < r.plan.SectionsOf(c.n) || !place.Dated() || !place.Outlast(c.name, func() bool { return !r.askedAgain && r.injector.active == 0 }) {
		return false
	}
	r.askedAgain = true
	return true
}

func (c *client) Next() {
	c.rec.mu.Lock() // an entry that nobody has asked for takes the number
	defer c.rec.mu.Unlock()
	c.acquisition++
}

func (c *client) Rand(what string, n int64) int64 {
	return c.rec.place.Rand(c.name, what, n)
}
func (c *client) Healed() (time.Duration, bool) { return c.rec.injector.healed() }

// killed tells whether the client is dead.
func (c *client) killed() bool { return c.itself().dead.Load() }

// itself is the client that an entry is of.
func (c *client) itself() *client {
	if c.of != nil {
		return c.of
	}
	return c
}

// op describes the operation that invoke has just recorded, for the innermost
// of what the client holds.
func (c *client) op(index int, timeout time.Duration) env.Op {
	in := c.inside()
	return env.Op{
		Index: index, Acquisition: c.acquisition, Lock: LockName,
		Grant: in.grant, Acquire: in.acquire, Timeout: timeout,
	}
}

// asking describes the acquire that began last.
func (c *client) asking(unfair bool) env.Op {
	return env.Op{
		Index: c.acquire, Acquisition: c.acquisition, Lock: LockName,
		Grant: c.inside().grant, Acquire: c.acquire, Unfair: unfair,
	}
}

func (c *client) Acquire(timeout time.Duration) workloads.Result { return c.ask(timeout, false) }

func (c *client) AcquireUnfair(timeout time.Duration) workloads.Result { return c.ask(timeout, true) }

func (c *client) ask(timeout time.Duration, unfair bool) workloads.Result {
	if !c.waits {
		c.acquire = c.rec.invokes(c, unfair)
		if c.acquire == 0 {
			return workloads.Dead
		}
	}
	g, err := c.end.Acquire(c.asking(unfair), timeout)
	if c.waits = errors.Is(err, env.ErrWaits); c.waits {
		return workloads.Waits
	}
	if err != nil {
		return c.rec.complete(c, history.Acquire, 0, history.Opt{}, err)
	}
	grant := c.rec.granted(c, c.acquire, g)
	if grant == 0 {
		return workloads.Dead
	}
	c.open = append(c.open, opening{c.acquire, grant})
	c.rec.injector.point(c, faults.Point{
		Client: c.name, Acquisition: c.acquisition, Op: history.Acquire, After: true, OK: true,
	})
	return workloads.OK
}

func (c *client) Abandon() workloads.Result {
	c.waits = false
	c.end.(env.Patient).Abandon(c.asking(false))
	return c.rec.complete(c, history.Acquire, 0, history.Opt{}, env.ErrTimeout)
}

func (c *client) Read(timeout time.Duration) (int64, workloads.Result) {
	grant := c.inside().grant
	index := c.rec.invoke(c, history.Read, grant, history.Opt{})
	if index == 0 {
		return 0, workloads.Dead
	}
	v, err := c.end.Read(c.op(index, timeout))
	value := history.Some(v)
	if err != nil {
		value = history.Opt{}
	}
	return v, c.rec.complete(c, history.Read, grant, value, err)
}

func (c *client) Write(value int64, timeout time.Duration) workloads.Result {
	grant := c.inside().grant
	index := c.rec.invoke(c, history.Write, grant, history.Some(value))
	if index == 0 {
		return workloads.Dead
	}
	return c.rec.complete(c, history.Write, grant, history.Some(value), c.end.Write(c.op(index, timeout), value))
}

func (c *client) Release() workloads.Result { return c.release(c.end.Release) }

// ReleaseName names the grant in the history that the client means to give back,
// if it holds one: it may have got that under another process number.
func (c *client) ReleaseName() workloads.Result {
	return c.release(func(op env.Op) error {
		if n, ok := c.end.(env.NameReleaser); ok {
			return n.ReleaseName(op)
		}
		return env.ErrNoReleaseName
	})
}

func (c *client) release(do func(env.Op) error) workloads.Result {
	grant := c.inside().grant
	index := c.rec.invoke(c, history.Release, grant, history.Opt{})
	if index == 0 {
		return workloads.Dead
	}
	err := do(c.op(index, 0))
	c.leave()
	return c.rec.complete(c, history.Release, grant, history.Opt{}, err)
}
