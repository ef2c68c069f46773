package worker

import (
	"context"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// within says which entry of which run a request is made in; zero: in none.
type within struct{ run, entry int64 }

// run is a call of a locks.Runner that is under way. To its caller it is an
// acquire up to an entry, and a release from the end of that on.
type run struct {
	client  *client
	id      int64
	lock    string
	acquire *operation
	end     context.CancelFunc // of the context that it was called with
	entered int64              // how often it has called the critical section
	left    []*operation       // what comes after the entries that have ended
}

// run begins a run, unless the lock knows none. It needs mu.
func (c *client) run(q Request) {
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
			r.over(q, lock.Run(ctx, q.Lock, r.critical))
		})
	})
}

// over answers a run that has ended.
func (r *run) over(q Request, err error) {
	r.acquire.over = true
	for _, op := range r.left {
		op.over = true
	}
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	delete(r.client.runs, r.id)
	r.client.server.answer(q, failed(err))
}

// critical is the critical section, as the lock calls it: the harness goes
// through it, and says when it is over. What the lock has told before is about
// the first entry, with which the acquire ends.
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
		c.got(r.acquire, g)
	}
	c.mu.Unlock()

	c.away(func() { ended() }) // or the worker ends: then nothing that the lock does has an effect

	c.mu.Lock()
	defer c.mu.Unlock()
	g.over = true
	delete(c.entries, g.within)
	release := &operation{name: history.Release, run: r.id, armed: g.armed}
	r.left = append(r.left, release)
	c.task.op = release
}

// abandon ends the context of a run; one that has ended needs no more. It needs mu.
func (c *client) abandon(q Request) Answer {
	if r := c.runs[q.Run]; r != nil {
		r.end()
	}
	return Answer{}
}

// arm takes a point of the next operation, or of what the lock does after an
// entry. It needs mu.
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
