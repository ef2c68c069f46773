package docker

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// runner is a client whose lock calls the critical section itself: its worker
// is asked to run, and asks in turn to enter. The first entry is the grant that
// the client's caller waits for, and every other one nobody has asked for.
type runner struct{ *client }

// errNeverEntered is what an acquire ends with whose run has ended without an
// entry and without an error, which none should.
var errNeverEntered = errors.New("the lock has not called the critical section")

// runs are what a client's lock is asked to run. The client's mu guards them.
type runs struct {
	visits   map[int64]*visit // by the ID of the request
	inside   map[int]entrance // by the index of the acquire that holds
	entering int              // entries that nobody has asked for and that are not in the history yet
	tasks    sync.WaitGroup
}

// entrance is an entry of a run.
type entrance struct {
	run, number int64
	uncalled    bool // nobody has asked for it
}

// visit is one run: an acquire and a release to the client's caller.
type visit struct {
	id        int64
	acquire   env.Op
	release   env.Op        // once it has begun
	changed   chan struct{} // holds a word when anything below has
	first     worker.Answer // what asked for the caller's entry
	entered   bool          // it has
	uncalled  int           // entries that nobody has asked for, and that last
	abandoned bool          // nobody waits for the run any more
	reply     <-chan worker.Reply
	ended     bool
	end       worker.Reply // once it has
}

func (v *visit) change() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// visit is the one that began with that acquire; nil: there is none. It needs mu.
func (r *runs) visit(acquire int) *visit {
	for _, v := range r.visits {
		if v.acquire.Index == acquire {
			return v
		}
	}
	return nil
}

// open tells whether another run than v goes on. It needs mu.
func (r *runs) open(v *visit) bool {
	for _, o := range r.visits {
		if o != v && !o.ended {
			return true
		}
	}
	return false
}

// holder is the index of the acquire that an entry is a grant of; 0: none that
// is known. It needs mu.
func (r *runs) holder(run, number int64) int {
	for acquire, e := range r.inside {
		if e.run == run && e.number == number {
			return acquire
		}
	}
	return 0
}

// foundTime is how long a client that goes on has to find what came while it
// stood still, before its caller's time is over.
const foundTime = 50 * time.Millisecond

// Acquire has the lock run, or goes on waiting for the critical section.
func (c runner) Acquire(op env.Op, timeout time.Duration) (env.Grant, error) {
	r := running{op: op, kind: history.Acquire}
	if err := c.goesOn(&r); err != nil {
		return env.Grant{}, err
	}
	c.mu.Lock()
	v := c.runs.visit(op.Index)
	c.mu.Unlock()
	if v == nil {
		c.acquires(op)
		c.alone(nil)
		if err := c.begin(&r, timeout); err != nil {
			return env.Grant{}, err
		}
		v = c.run(op)
	}
	alive := c.wait(v, timeout, foundTime, true)
	if err := c.goesOn(&r); err != nil || !alive {
		return env.Grant{}, env.ErrCrashed
	}
	c.mu.Lock()
	entered, ended, first := v.entered, v.ended, v.first
	c.mu.Unlock()
	switch {
	case entered:
		g := c.grantOf(first)
		g.ValidUntil = c.got(op, g.ValidUntil, nil)
		return g, nil
	case ended:
		err := cmp.Or(c.leave(v), errNeverEntered)
		c.got(op, 0, err)
		return env.Grant{}, err
	}
	return env.Grant{}, env.ErrWaits
}

// Release ends the caller's entry, and waits until the lock is through with it.
func (c runner) Release(op env.Op) error {
	c.recorded(op.Acquire)
	c.mu.Lock()
	v, in := c.runs.visit(op.Acquire), c.runs.inside[op.Acquire]
	c.mu.Unlock()
	r := running{op: op, kind: history.Release, entry: in}
	if err := c.goesOn(&r); err != nil {
		return err
	}
	if v == nil || in == (entrance{}) {
		return locks.ErrNotHeld
	}
	limit := 2*c.place.cfg.Lease + graceTime
	c.alone(v)
	if err := c.begin(&r, limit); err != nil {
		return err
	}
	c.mu.Lock()
	v.release = op
	delete(c.runs.inside, op.Acquire)
	c.mu.Unlock()
	c.process.Send(worker.Request{ID: v.id, Entry: in.number}) // a failure shows as the worker's end
	alive := c.wait(v, limit, limit, false)
	if err := c.goesOn(&r); err != nil || !alive {
		return env.ErrCrashed
	}
	r.late = true
	if c.abandon(v, &r) {
		return env.ErrTimeout
	}
	return c.leave(v)
}

// Abandon: see env.Patient. A stranger's lock is always told, and may be
// one that can be called off, or not.
func (c runner) Abandon(op env.Op) {
	c.mu.Lock()
	v := c.runs.visit(op.Index)
	if v == nil {
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.recorded(op.Index)
	goesOn := c.abandon(v, nil)
	c.mu.Lock()
	if v.entered { // just now
		delete(c.runs.inside, op.Index)
		c.uncalled(v, v.first)
	}
	c.mu.Unlock()
	if !goesOn {
		return
	}
	if c.place.cfg.Lock.GivesUp || len(c.place.cfg.Worker) > 0 {
		c.process.Call(worker.Request{Op: worker.OpAbandon, Client: c.name, Run: v.id})
	}
}

// alone gives up the view of the servers if another run than v goes on: its
// requests cannot be told from what is asked next.
func (c runner) alone(v *visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs.open(v) {
		for _, l := range c.links {
			l.far.drop("an earlier run of %s goes on, and it cannot be told which requests are whose", c.name)
		}
	}
}

// run asks for a run. Its number is known before the worker is, which may want
// to enter at once.
func (c runner) run(op env.Op) *visit {
	v := &visit{id: c.process.Number(), acquire: op, changed: make(chan struct{}, 1)}
	c.mu.Lock()
	c.runs.visits[v.id] = v
	c.mu.Unlock()
	_, v.reply = c.process.Call(worker.Request{ID: v.id, Op: worker.OpRun, Client: c.name, Lock: op.Lock})
	return v
}

// wait returns when v has ended, or was entered if that is enough, or its time
// is over; false: the run of all is. Time is not over while the client stands
// still, or is in an entry that nobody has asked for, and not before again has
// passed after that.
func (c runner) wait(v *visit, limit, again time.Duration, enough bool) (alive bool) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for until := time.Now().Add(limit); ; {
		c.mu.Lock()
		done, still := v.ended || enough && v.entered, v.uncalled > 0
		c.mu.Unlock()
		now := time.Now()
		if still || c.paused.Load() || c.hung.Load() {
			if next := now.Add(again); next.After(until) {
				until = next
			}
		}
		if done || now.After(until) {
			return true
		}
		select {
		case end := <-v.reply:
			c.mu.Lock()
			v.ended, v.end = true, end
			c.mu.Unlock()
		case <-v.changed:
		case <-ticker.C:
		case <-c.place.ctx.Done():
			return false
		}
	}
}

// abandon makes a run nobody's, and tells whether it goes on. Its answer is late
// for an operation that waited for it.
func (c runner) abandon(v *visit, late *running) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.abandoned = true
	if !v.ended && !c.process.Forget(v.id) {
		v.ended, v.end = true, <-v.reply // it came just now
	}
	switch {
	case v.ended:
		delete(c.runs.visits, v.id)
	case late != nil:
		c.asked[v.id] = *late
	}
	return !v.ended
}

// leave forgets a run that has ended, and is its error.
func (c runner) leave(v *visit) error {
	c.mu.Lock()
	delete(c.runs.visits, v.id)
	c.mu.Unlock()
	if v.end.Err != nil {
		return c.crashed(v.end.Err)
	}
	return v.end.Answer.Err()
}

// enter is a worker's call of the critical section. It does not block.
func (c *client) enter(a worker.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.runs.visits[a.ID]
	switch {
	case v == nil:
		c.runs.tasks.Go(func() {
			c.process.Send(worker.Request{ID: a.ID, Entry: a.Entry, Error: worker.ErrBadRequest})
		})
	case v.entered || v.abandoned:
		c.uncalled(v, a)
	default:
		v.entered, v.first = true, a
		c.runs.inside[v.acquire.Index] = entrance{run: a.ID, number: a.Entry}
		v.change()
	}
}

// uncalled goes through a critical section that nobody has asked for. It needs
// mu, and does not block.
func (c *client) uncalled(v *visit, a worker.Answer) {
	c.runs.entering++
	v.uncalled++
	c.runs.tasks.Go(func() {
		g := c.grantOf(a)
		g.Stands = v.acquire.Index
		op := c.place.observer.Enter(c.name, g)
		c.mu.Lock()
		c.runs.entering--
		if op.Index != 0 {
			c.runs.inside[op.Index] = entrance{run: a.ID, number: a.Entry, uncalled: true}
		}
		c.mu.Unlock()
		c.recorded(0)
		if op.Index != 0 {
			c.place.observer.Section(c.name, op)
		}
		c.mu.Lock()
		delete(c.runs.inside, op.Index)
		v.uncalled--
		c.mu.Unlock()
		c.process.Send(worker.Request{ID: a.ID, Entry: a.Entry})
	})
}

// grantOf is what a worker says of a grant.
func (c *client) grantOf(a worker.Answer) env.Grant {
	return env.Grant{Token: uint64(a.Token), ValidUntil: c.validUntil(a)}
}

// in is the operation that a point of a run's belongs to. What an acquire does
// that nobody waits for any more has no points: false.
func (r *runs) in(a worker.Answer) (running, bool) {
	v := r.visits[a.Run]
	switch {
	case v == nil:
	case a.F == history.Release:
		return running{op: v.release, kind: a.F, entry: entrance{run: v.id}}, v.release.Index != 0
	case !v.abandoned:
		return running{op: v.acquire, kind: history.Acquire, entry: entrance{run: v.id}}, true
	}
	return running{}, false
}

var _ env.Patient = runner{}
