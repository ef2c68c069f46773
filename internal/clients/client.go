package clients

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// client is one client of a program.
type client struct {
	*program
	name   string
	hung   atomic.Bool // its caller's task is stopped; see blocks
	clocks clocks

	mu      sync.Mutex
	current openOperation           // its last operation outside of runs
	asked   map[int64]openOperation // unanswered ones, by request
	extends map[int]bool            // grants that know an extend, by their acquires
	news    news
	runs    runs
}

// openOperation is an open operation of a client.
type openOperation struct {
	op    env.Op
	kind  string
	limit time.Duration // of an access to the resource
	entry entrance      // its entry of a run; zero: none
	late  bool          // its caller gave up
}

// validUntil returns the earliest possible deadline of a grant.
func (c *client) validUntil(a worker.Answer) time.Duration {
	if a.ValidMS == nil || a.MonoNS == nil || !c.clocked {
		return 0
	}
	until := time.Duration(*a.MonoNS) + time.Duration(*a.ValidMS)*time.Millisecond + c.clock
	return max(until-c.run.start.Sub(c.run.made), 1) // 0 would mean no deadline
}

func (c *client) Acquire(op env.Op, timeout time.Duration) (env.Grant, error) {
	return c.ask(history.Acquire, op, timeout)
}

// CanTry implements env.Trier.
func (c *client) CanTry() bool { return c.can(worker.FeatureTry) }

// Try is Acquire without a wait.
func (c *client) Try(op env.Op, timeout time.Duration) (env.Grant, error) {
	return c.ask(history.Try, op, timeout)
}

func (c *client) ask(kind string, op env.Op, timeout time.Duration) (env.Grant, error) {
	t := c.run.Cfg.Lease
	c.beginAcquire(op)
	a, err := c.do(openOperation{op: op, kind: kind}, worker.Request{
		TimeoutMS: max(timeout.Milliseconds(), 1), Nested: op.Grant != 0,
		Unfair: op.Unfair && c.can(worker.FeatureUnfair),
	}, timeout+t)
	g := c.grantOf(a)
	g.ValidUntil = c.acquired(op, g.ValidUntil, err)
	if err != nil {
		return env.Grant{}, err
	}
	if a.Extends {
		c.mu.Lock()
		c.extends[op.Index] = true
		c.mu.Unlock()
	}
	return g, nil
}

// CanExtend implements env.Extender.
func (c *client) CanExtend(acquire int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.can(worker.FeatureExtend) || c.extends[acquire]
}

// Extend makes the lease of a grant longer.
func (c *client) Extend(op env.Op) (validUntil time.Duration, err error) {
	a, err := c.do(openOperation{op: op, kind: history.Extend}, worker.Request{}, 2*c.run.Cfg.Lease)
	return c.validUntil(a), err
}

// Release releases a grant.
func (c *client) Release(op env.Op) error {
	defer c.released(op)
	_, err := c.do(openOperation{op: op, kind: history.Release}, worker.Request{}, 2*c.run.Cfg.Lease)
	return err
}

// ReleaseName releases by name.
func (c *client) ReleaseName(op env.Op) error {
	if !c.can(worker.FeatureReleaseName) {
		return env.ErrNoReleaseName
	}
	defer c.released(op)
	_, err := c.do(openOperation{op: op, kind: history.Release}, worker.Request{Op: worker.OpReleaseName}, 2*c.run.Cfg.Lease)
	return err
}

// Read reads the guarded resource.
func (c *client) Read(op env.Op) (int64, error) {
	a, err := c.do(c.newAccess(op, history.Read), worker.Request{}, 2*c.run.Cfg.Lease)
	if err != nil {
		return 0, err
	}
	if a.Value == nil {
		return 0, errors.New("the worker answered a read without a value")
	}
	return *a.Value, nil
}

// Write writes the guarded resource.
func (c *client) Write(op env.Op, value int64) error {
	_, err := c.do(c.newAccess(op, history.Write), worker.Request{Value: &value}, 2*c.run.Cfg.Lease)
	return err
}

// newAccess returns an access. Its timeout is T/4, unless op has one.
func (c *client) newAccess(op env.Op, kind string) openOperation {
	c.mu.Lock()
	r := openOperation{op: op, kind: kind, limit: op.Timeout, entry: c.runs.inside[op.Acquire]}
	c.mu.Unlock()
	if r.limit == 0 {
		r.limit = c.run.Cfg.Lease / 4
	}
	return r
}

// graceTime is added to the time that the worker's own clock allows for an operation.
const graceTime = time.Second

// do performs one operation. limit is how long the worker may take, without its pauses.
func (c *client) do(r openOperation, q worker.Request, limit time.Duration) (worker.Answer, error) {
	q.TimeoutMS = max(cmp.Or(q.TimeoutMS, r.limit.Milliseconds(), limit.Milliseconds()), 1)
	limit += graceTime
	if len(c.run.Cfg.Worker) == 0 { // its timeouts are no matter of the protocol
		limit += userlock.Patience * c.run.Cfg.Lease
	}
	q.Op, q.Client, q.Lock = cmp.Or(q.Op, r.kind), c.name, c.run.setup.Prefix+r.op.Lock
	q.Run, q.Entry = r.entry.run, r.entry.number
	if r.kind != history.Acquire && r.kind != history.Try {
		c.flushNews(int(r.op.Acquire))
	}
	if err := c.awaitUnhang(&r); err != nil {
		return worker.Answer{}, err
	}
	if err := c.begin(&r, limit); err != nil {
		return worker.Answer{}, err
	}
	q.ID = c.process.Number()
	c.mu.Lock()
	c.asked[q.ID] = r
	if r.entry == (entrance{}) {
		c.current = r
	}
	c.mu.Unlock()
	_, reply := c.process.Call(q)
	rep, ok := c.await(reply, limit)
	if !ok {
		if c.giveUp(q.ID) {
			return worker.Answer{}, env.ErrTimeout
		}
		rep = <-reply // it has just come
	}
	c.mu.Lock()
	delete(c.asked, q.ID)
	c.mu.Unlock()
	if rep.Err != nil {
		return worker.Answer{}, c.crashed(rep.Err)
	}
	if err := c.awaitUnhang(&r); err != nil {
		return worker.Answer{}, err
	}
	err := rep.Answer.Err()
	if wrong, ok := errors.AsType[*env.ProtocolError](err); ok {
		c.run.breakOff(&env.ProtocolError{Misuse: c.name + ": " + wrong.Misuse})
	}
	return rep.Answer, err
}

// hasRequest reports whether a request with that ID is an unanswered one of the client.
func (c *client) hasRequest(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, asked := c.asked[id]
	return asked || c.runs.visits[id] != nil
}

// giveUp makes the answer to a request late. It returns false if the answer is there
// already.
func (c *client) giveUp(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.process.Forget(id) {
		return false
	}
	r := c.asked[id]
	r.late = true
	c.asked[id] = r
	return true
}

// begin waits until the client can begin an operation: the worker has answered late
// requests, and all its messages so far are assigned to their operations. Then it arms
// the points of the schedule. Requests in an entry of a run count as the run's, up to
// the release. The release does not wait: a run whose entry does not end would hold its
// lock forever.
func (c *client) begin(r *openOperation, limit time.Duration) error {
	if c.isOver() {
		return env.ErrCrashed
	}
	inside := r.entry != (entrance{})
	switch leaves := inside && r.kind == history.Release; {
	case leaves:
	case !c.isFree(r.entry, limit):
		return errBusy
	case inside:
		return nil
	}
	for _, l := range c.links {
		if !l.settle() {
			l.far.Drop("a request of %s cannot be assigned to an operation", c.name)
		}
	}
	c.op.Store(int64(r.op.Index))
	return c.arm(r)
}

var errBusy = locks.Definite(errors.New("the worker has not answered an earlier request yet"))

// isFree waits, for limit at most, until no answer of an entry is late. The zero entry
// means operations outside of runs.
func (c *client) isFree(in entrance, limit time.Duration) bool {
	late := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range c.asked {
			if r.late && r.entry == in {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		if !late() || c.dead.Load() {
			return true
		}
		if time.Now().After(end) || c.run.Ctx.Err() != nil {
			return false
		}
	}
}

// answeredLate records an answer that came after its caller gave up.
func (c *client) answeredLate(a worker.Answer) {
	c.mu.Lock()
	r := c.asked[a.ID]
	delete(c.asked, a.ID)
	if v := c.runs.visits[a.ID]; v != nil {
		v.ended = true
		delete(c.runs.visits, a.ID)
	}
	c.mu.Unlock()
	if r.late {
		outcome := history.OK.String()
		if err := a.Err(); err != nil {
			outcome = err.Error()
		}
		c.run.Observer.Report(history.Entry{
			Client: c.name, F: history.Late, Lock: r.op.Lock, Op: history.Some(int64(r.op.Index)), Text: r.kind + " answered late: " + outcome,
		})
	}
}

// tick is the precision with which the time of a client that may be paused is counted.
const tick = 20 * time.Millisecond

// await waits for a reply, for limit at most. Pauses and hangs of the client do not
// count.
func (c *client) await(reply <-chan worker.Reply, limit time.Duration) (worker.Reply, bool) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); limit > 0; {
		select {
		case r := <-reply:
			return r, true
		case <-c.run.Ctx.Done():
			return worker.Reply{Err: worker.ErrExited}, true
		case now := <-ticker.C:
			if !c.paused.Load() && !c.hung.Load() {
				limit -= now.Sub(last)
			}
			last = now
		}
	}
	return worker.Reply{}, false
}

// event handles an event of the worker.
func (c *client) event(a worker.Answer) {
	c.mu.Lock()
	r, seen := c.current, true
	if a.Run != 0 {
		r, seen = c.runs.operationAt(a)
	}
	c.mu.Unlock()
	switch a.Event {
	case worker.EventAt:
		go c.reached(r, a, seen)
	case worker.EventLost, worker.EventExtended:
		c.learn(a)
	case worker.EventQueued:
		if !seen {
			return // its caller gave up
		}
		e := history.Entry{Client: c.name, F: history.Queued, Lock: a.Lock, Op: history.Some(int64(r.op.Index))}
		if a.Position != nil {
			e.Value = history.Some(*a.Position)
		}
		c.run.Observer.Report(e)
	}
}

var (
	_ env.NameReleaser = (*client)(nil)
	_ env.Trier        = (*client)(nil)
	_ env.Extender     = (*client)(nil)
)
