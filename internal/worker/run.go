package worker

import (
	"context"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// within is the entry of a run that a request belongs to; zero: none.
type within struct{ run, entry int64 }

// run is an open call of a locks.Runner. Its caller sees an acquire up to an entry, and
// a release after it.
type run struct {
	client  *client
	id      int64
	lock    string
	acquire *operation
	end     context.CancelFunc // cancels the context of the call
	entered int64              // number of entries so far
	left    []*operation       // the releases after the entries that have ended
}

// startRun begins a run if the lock supports runs. The caller holds mu.
func (c *client) startRun(q Request) {
	lock, ok := c.locker.(locks.Runner)
	if !ok {
		c.server.answer(q, Answer{Error: ErrUnsupported, Text: "the lock does not call the critical section itself"})
		return
	}
	ctx, end := context.WithCancel(c.server.life)
	r := &run{client: c, id: q.ID, lock: q.Lock, acquire: c.operation(history.Acquire, q.Lock), end: end}
	r.acquire.run = r.id
	c.runs[r.id] = r
	t := &task{client: c, op: r.acquire}
	c.server.running.Go(func() {
		t.run(func() {
			defer end()
			r.finish(q, lock.Run(ctx, q.Lock, r.critical))
		})
	})
}

// finish answers a run that has ended.
func (r *run) finish(q Request, err error) {
	r.acquire.over = true
	for _, op := range r.left {
		op.over = true
	}
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	delete(r.client.runs, r.id)
	r.client.server.answer(q, failed(err))
}

// critical is the critical section that the lock calls: the harness goes through it and
// reports its end. Earlier news is about the first entry, which ends the acquire.
func (r *run) critical(_ context.Context, lease locks.Lease) {
	c := r.client
	c.mu.Lock()
	r.entered++
	g := &grant{within: within{r.id, r.entered}, lock: r.lock, lease: lease}
	a := c.hold(g)
	a.ID, a.Do, a.Entry = r.id, DoEnter, r.entered
	c.entries[g.within] = g
	ended := c.server.ask(a)
	if !r.acquire.over {
		c.complete(r.acquire, g)
	}
	c.mu.Unlock()

	c.away(func() { ended() }) // if the worker ends instead, the lock's later requests have no effect

	c.mu.Lock()
	defer c.mu.Unlock()
	g.over = true
	delete(c.entries, g.within)
	release := &operation{name: history.Release, run: r.id, armed: g.armed}
	r.left = append(r.left, release)
	c.task.op = release
}

// abandon ends the context of a run, unless the run has ended. The caller holds mu.
func (c *client) abandon(q Request) Answer {
	if r := c.runs[q.Run]; r != nil {
		r.end()
	}
	return Answer{}
}

// arm arms a point of the next operation, or of the release after an entry. The caller
// holds mu.
func (c *client) arm(q Request) Answer {
	if q.within() == (within{}) {
		c.next = append(c.next, q)
		return Answer{}
	}
	g := c.entries[q.within()]
	if g == nil {
		return notEntered(q)
	}
	g.armed = append(g.armed, q)
	return Answer{}
}
