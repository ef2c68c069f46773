package clients

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

// runner is a client whose lock calls the critical section itself: its worker gets a
// run, and asks to enter. The first entry is the grant that the client's caller waits
// for. All others are unrequested.
type runner struct{ *client }

// errNeverEntered: a run ended without an entry and without an error. No lock should do
// that.
var errNeverEntered = errors.New("the lock has not called the critical section")

// runs are the runs of a client's lock. The client's mu guards them.
type runs struct {
	visits   map[int64]*visit // by the ID of the request
	inside   map[int]entrance // by the index of the acquire that holds
	entering int              // unrequested entries that are not recorded yet
	tasks    sync.WaitGroup
}

// entrance is an entry of a run.
type entrance struct {
	run, number int64
	unrequested bool // it is unrequested
}

// visit is one run: an acquire and a release for the client's caller.
type visit struct {
	id          int64
	acquire     env.Op
	release     env.Op        // once it has begun
	changed     chan struct{} // holds an element when anything below has changed
	first       worker.Answer // the worker's request for the caller's entry
	entered     bool          // the caller's entry has begun
	unrequested int           // open unrequested entries
	abandoned   bool          // its caller gave up
	reply       <-chan worker.Reply
	ended       bool
	end         worker.Reply // once it has ended
}

func (v *visit) change() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// visit returns the run that began with that acquire; nil: none. The caller holds mu.
func (r *runs) visit(acquire int) *visit {
	for _, v := range r.visits {
		if v.acquire.Index == acquire {
			return v
		}
	}
	return nil
}

// foundTime is how long a client that goes on after a pause may take to handle earlier
// messages, before its caller's timeout ends.
const foundTime = 50 * time.Millisecond

// Acquire starts a run, or goes on waiting for its entry.
func (c runner) Acquire(op env.Op, timeout time.Duration) (env.Grant, error) {
	r := openOperation{op: op, kind: history.Acquire}
	if err := c.awaitUnhang(&r); err != nil {
		return env.Grant{}, err
	}
	c.mu.Lock()
	v := c.runs.visit(op.Index)
	c.mu.Unlock()
	if v == nil {
		c.beginAcquire(op)
		c.checkAlone(nil)
		if err := c.begin(&r, timeout); err != nil {
			return env.Grant{}, err
		}
		v = c.startRun(op)
	}
	alive := c.wait(v, timeout, foundTime, true)
	if err := c.awaitUnhang(&r); err != nil || !alive {
		return env.Grant{}, env.ErrCrashed
	}
	c.mu.Lock()
	entered, ended, first := v.entered, v.ended, v.first
	c.mu.Unlock()
	switch {
	case entered:
		g := c.grantOf(first)
		g.ValidUntil = c.acquired(op, g.ValidUntil, nil)
		return g, nil
	case ended:
		err := cmp.Or(c.leave(v), errNeverEntered)
		c.acquired(op, 0, err)
		return env.Grant{}, err
	}
	return env.Grant{}, env.ErrWaits
}

// Release ends the caller's entry, and waits for the end of the run.
func (c runner) Release(op env.Op) error {
	c.flushNews(op.Acquire)
	c.mu.Lock()
	v, in := c.runs.visit(op.Acquire), c.runs.inside[op.Acquire]
	c.mu.Unlock()
	r := openOperation{op: op, kind: history.Release, entry: in}
	if err := c.awaitUnhang(&r); err != nil {
		return err
	}
	if v == nil || in == (entrance{}) {
		return locks.ErrNotHeld
	}
	limit := 2*c.run.Cfg.Lease + graceTime
	c.checkAlone(v)
	if err := c.begin(&r, limit); err != nil {
		return err
	}
	c.mu.Lock()
	v.release = op
	delete(c.runs.inside, op.Acquire)
	c.mu.Unlock()
	c.process.Send(worker.Request{ID: v.id, Entry: in.number}) // a failed write shows as the worker's end
	alive := c.wait(v, limit, limit, false)
	if err := c.awaitUnhang(&r); err != nil || !alive {
		return env.ErrCrashed
	}
	r.late = true
	if c.abandon(v, &r) {
		return env.ErrTimeout
	}
	return c.leave(v)
}

// Abandon implements env.Patient. A user's lock always gets the request, because it may
// support cancelling.
func (c runner) Abandon(op env.Op) {
	c.mu.Lock()
	v := c.runs.visit(op.Index)
	if v == nil {
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.flushNews(op.Index)
	goesOn := c.abandon(v, nil)
	c.mu.Lock()
	if v.entered { // just now
		delete(c.runs.inside, op.Index)
		c.enterUncalled(v, v.first)
	}
	c.mu.Unlock()
	if !goesOn {
		return
	}
	if c.run.Cfg.Lock.GivesUp || len(c.run.Cfg.Worker) > 0 {
		c.process.Call(worker.Request{Op: worker.OpAbandon, Client: c.name, Run: v.id})
	}
}

// checkAlone stops observing the servers if another run than v goes on, because its
// requests cannot be distinguished from the next ones.
func (c runner) checkAlone(v *visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.runs.visits {
		if o == v || o.ended {
			continue
		}
		for _, l := range c.links {
			l.far.Drop("an earlier run of %s goes on, and its requests cannot be distinguished", c.name)
		}
	}
}

// startRun starts a run. It stores the number before the request is sent, because the
// worker may enter at once.
func (c runner) startRun(op env.Op) *visit {
	v := &visit{id: c.process.Number(), acquire: op, changed: make(chan struct{}, 1)}
	c.mu.Lock()
	c.runs.visits[v.id] = v
	c.mu.Unlock()
	_, v.reply = c.process.Call(worker.Request{ID: v.id, Op: worker.OpRun, Client: c.name, Lock: c.run.setup.Prefix + op.Lock})
	return v
}

// wait returns true when v has ended, or was entered if that is enough, or the time is
// over; false if the whole run is over. The time is not over while the client is paused
// or in an unrequested entry, nor for again after that.
func (c runner) wait(v *visit, limit, again time.Duration, enough bool) (alive bool) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for until := time.Now().Add(limit); ; {
		c.mu.Lock()
		done, still := v.ended || enough && v.entered, v.unrequested > 0
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
		case <-c.run.Ctx.Done():
			return false
		}
	}
}

// abandon marks a run as abandoned, and reports whether it goes on. late is the
// operation that waited for it, which gets a late answer.
func (c runner) abandon(v *visit, late *openOperation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.abandoned = true
	if !v.ended && !c.process.Forget(v.id) {
		v.ended, v.end = true, <-v.reply // it has just come
	}
	switch {
	case v.ended:
		delete(c.runs.visits, v.id)
	case late != nil:
		c.asked[v.id] = *late
	}
	return !v.ended
}

// leave forgets a run that has ended, and returns its error.
func (c runner) leave(v *visit) error {
	c.mu.Lock()
	delete(c.runs.visits, v.id)
	c.mu.Unlock()
	if v.end.Err != nil {
		return c.crashed(v.end.Err)
	}
	return v.end.Answer.Err()
}

// enter handles a worker's call of the critical section. It does not block.
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
		c.enterUncalled(v, a)
	default:
		v.entered, v.first = true, a
		c.runs.inside[v.acquire.Index] = entrance{run: a.ID, number: a.Entry}
		v.change()
	}
}

// enterUncalled goes through an unrequested critical section. The caller holds mu. It
// does not block.
func (c *client) enterUncalled(v *visit, a worker.Answer) {
	c.runs.entering++
	v.unrequested++
	c.runs.tasks.Go(func() {
		g := c.grantOf(a)
		g.Stands = v.acquire.Index
		op := c.run.Observer.Enter(c.name, g)
		c.mu.Lock()
		c.runs.entering--
		if op.Index != 0 {
			c.runs.inside[op.Index] = entrance{run: a.ID, number: a.Entry, unrequested: true}
		}
		c.mu.Unlock()
		c.flushNews(0)
		if op.Index != 0 {
			c.run.Observer.Section(c.name, op)
		}
		c.mu.Lock()
		delete(c.runs.inside, op.Index)
		v.unrequested--
		c.mu.Unlock()
		c.process.Send(worker.Request{ID: a.ID, Entry: a.Entry})
	})
}

// grantOf returns the grant in a worker's answer.
func (c *client) grantOf(a worker.Answer) env.Grant {
	return env.Grant{Token: uint64(a.Token), ValidUntil: c.validUntil(a)}
}

// operationAt returns the operation of a point of a run. It returns false after an abandoned
// acquire: its requests have no points.
func (r *runs) operationAt(a worker.Answer) (openOperation, bool) {
	v := r.visits[a.Run]
	switch {
	case v == nil:
	case a.F == history.Release:
		return openOperation{op: v.release, kind: a.F, entry: entrance{run: v.id}}, v.release.Index != 0
	case !v.abandoned:
		return openOperation{op: v.acquire, kind: history.Acquire, entry: entrance{run: v.id}}, true
	}
	return openOperation{}, false
}

var _ env.Patient = runner{}
