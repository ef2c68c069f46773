package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// client is one client on a host of its own: the lock's Locker, its
// connections, and what faults have done to the host.
type client struct {
	world  *World
	name   string
	n      int
	locker locks.Locker
	conns  []*conn // by server; clients are connected when a run begins
	leases []granted
	port   transport

	armed    bool // a fault waits for a point of its
	paused   bool
	dead     bool
	runnable []*task // what became runnable during a pause
	waiting  []*task // what steps onto the host when the pause ends

	deadline deadline   // of the acquire that runs
	op       cluster.Op // the operation that runs
	kind     string     // its name
	requests int        // that it has sent
	calls    int        // of the port that it has made
	access   cluster.Access
	err      error // why the wait for an answer ended without one
	reply    redis.Reply
	answer   cluster.Answer // the guarded resource's

	// Where order decides:
	journal *journal // what it has learnt; nil elsewhere
	ops     []int    // the indices of its operations so far
	round   int      // Order.changes when its loop last began
	uniques int      // strings so far
}

// granted is a lease that has not been given back.
type granted struct {
	acquire int // the index of its acquire
	lease   locks.Lease
}

// reset makes c the next client of w.
func (c *client) reset(w *World, name string) {
	*c = client{
		world: w, name: name, n: len(w.clients), port: transport{c, w.servers[0]}, deadline: deadline{client: c},
		conns: c.conns[:0], leases: c.leases[:0], runnable: c.runnable[:0], waiting: c.waiting[:0], ops: c.ops[:0],
	}
	if w.order != nil {
		c.journal = w.memory.journals.next()
		c.journal.reset()
	}
	for _, s := range w.servers {
		s.links = append(s.links, link{name: w.memory.join(name, "→", s.name)})
		n := w.connect(c, s)
		n.incarnation, n.open = s.incarnation, true
		c.conns = append(c.conns, n)
	}
	for i := range w.cfg.Schedule {
		p := w.cfg.Schedule[i].Point
		c.armed = c.armed || p != nil && p.Client == name
	}
	c.locker = w.cfg.Lock.New(catalogue.Env{
		Host:    (*host)(c),
		Redis:   redis.Port{Transport: &c.port},
		Lease:   w.cfg.Lease,
		Options: w.cfg.Options,
	})
}

// lease is what the acquire with that index got, if it has not been given back.
func (c *client) lease(acquire int) locks.Lease {
	for i := range c.leases {
		if c.leases[i].acquire == acquire {
			return c.leases[i].lease
		}
	}
	return nil
}

func (w *World) find(name string) *client {
	for _, c := range w.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Client is the named client.
func (w *World) Client(name string) cluster.Client { return w.find(name) }

// do runs f, which is an operation, on the client's host: the running task
// steps onto it, and off again whatever comes of f.
func (c *client) do(op cluster.Op, kind string, f func()) (err error) {
	if c.dead {
		return cluster.ErrCrashed
	}
	t := c.world.current
	t.client, c.op, c.kind, c.requests, c.calls, c.err = c, op, kind, 0, 0, nil
	if c.journal != nil {
		c.journal.begin(kind)
		c.ops = append(c.ops, op.Index)
	}
	defer func() {
		t.client = nil
		if p := recover(); p != nil {
			if _, ok := p.(unwound); !ok || t.ending {
				panic(p)
			}
			err = cluster.ErrCrashed
			if c.calls > maxPortCalls {
				err = cluster.ErrBudget
			}
		}
	}()
	for c.paused && !c.dead {
		c.waiting = append(c.waiting, t)
		c.park(never)
	}
	c.mustLive()
	f()
	return nil
}

// mustLive ends the running task's operation if the client is dead.
func (c *client) mustLive() {
	if c.dead {
		panic(unwound{})
	}
}

func (c *client) park(deadline time.Duration) (answered bool) {
	answered = c.world.current.park(deadline)
	c.mustLive()
	return answered
}

// point announces a point of the running operation. The client may find
// itself paused or dead.
func (c *client) point(after bool, last bool) {
	if !c.armed {
		return
	}
	p := faults.Point{Client: c.name, Acquisition: c.op.Acquisition, Op: c.kind, After: after, Request: c.requests, Last: last}
	c.world.observer.Point(c.name, c.op, p)
	for c.paused && !c.dead {
		c.waiting = append(c.waiting, c.world.current)
		c.park(never)
	}
	c.mustLive()
}

// Acquire asks the lock.
func (c *client) Acquire(op cluster.Op, timeout time.Duration) (g cluster.Grant, err error) {
	crash := c.do(op, history.Acquire, func() {
		c.deadline.at = c.world.now + timeout
		if c.world.order != nil {
			c.deadline.at = never // up to the caller, at any time
		}
		var lease locks.Lease
		lease, err = c.locker.Acquire(&c.deadline, op.Lock)
		if err != nil {
			return
		}
		c.leases = append(c.leases, granted{op.Index, lease})
		if d, ok := lease.(locks.Deadliner); ok {
			g.ValidUntil = d.Until() // a client's monotonic clock is the true one here
		}
		if f, ok := lease.(locks.Fencer); ok {
			g.Token = f.Token()
		}
	})
	return g, cmp.Or(crash, err)
}

// Release gives a grant back.
func (c *client) Release(op cluster.Op) (err error) {
	crash := c.do(op, history.Release, func() {
		lease := c.lease(op.Acquire)
		c.leases = slices.DeleteFunc(c.leases, func(g granted) bool { return g.acquire == op.Acquire })
		if lease == nil {
			err = locks.ErrNotHeld
			return
		}
		err = lease.Release(context.Background())
	})
	return cmp.Or(crash, err)
}

// Read reads the guarded resource.
func (c *client) Read(op cluster.Op) (v int64, err error) {
	a, err := c.accessResource(op, history.Read, 0)
	return a.Value, err
}

// Write writes to it.
func (c *client) Write(op cluster.Op, value int64) error {
	_, err := c.accessResource(op, history.Write, value)
	return err
}

func (c *client) accessResource(op cluster.Op, kind string, value int64) (answer cluster.Answer, err error) {
	crash := c.do(op, kind, func() {
		a := cluster.Access{Client: c.name, By: op.Index, Grant: op.Grant, Lock: op.Lock, Write: kind == history.Write, Value: value}
		if f, ok := c.lease(op.Acquire).(locks.Fencer); ok {
			a.Token = f.Token()
		}
		timeout := op.Timeout
		if timeout == 0 {
			timeout = c.world.cfg.Lease / 4
		}
		c.requests = 1
		c.point(false, true)
		c.access = a
		if err = c.request(c.world.servers[1], timeout, nil); err == nil {
			answer = c.answer
			if answer.Stale {
				err = cluster.ErrStaleToken
			}
		}
		c.point(true, true)
	})
	return answer, cmp.Or(crash, err)
}

// transport is the client's way to a Redis server, as its library goes it.
type transport struct {
	client *client
	server *server
}

// How go-redis sends again after an error, by default.
const (
	defaultRetries = 3
	minBackoff     = 8 * time.Millisecond
	maxBackoff     = 512 * time.Millisecond
)

// Do is one call of the port.
func (t *transport) Do(ctx context.Context, timeout time.Duration, cmd redis.Command) (redis.Reply, error) {
	c := t.client
	c.mustLive()
	if c.calls++; c.calls > maxPortCalls {
		c.dead = true
		panic(unwound{})
	}
	if err := ctx.Err(); err != nil {
		return redis.Reply{}, locks.Definite(err)
	}
	if timeout == 0 {
		timeout = c.world.cfg.Lease / 4
	}
	c.requests++
	last := c.requests == c.lastRequest()
	c.point(false, last)
	retries := 0
	if c.world.cfg.Options.Retries {
		retries = defaultRetries
	}
	err := c.request(t.server, timeout, &cmd)
	for try := 0; err != nil && try < retries; try++ {
		c.sleep(context.Background(), min(minBackoff<<try, maxBackoff))
		if again := c.request(t.server, timeout, &cmd); again == nil || !locks.IsDefinite(again) {
			err = again // an earlier try may have been executed, so a definite error says nothing
		}
	}
	c.point(true, last)
	if err != nil {
		return redis.Reply{}, err
	}
	return c.reply, nil
}

// lastRequest is how many requests the running operation has undisturbed.
func (c *client) lastRequest() int {
	if c.kind == history.Acquire {
		return c.world.cfg.Lock.Steps.Acquire
	}
	return c.world.cfg.Lock.Steps.Release
}

// request sends cmd, or c.access to the guarded resource, and waits for the
// answer, which is then in c.reply or c.answer.
func (c *client) request(s *server, timeout time.Duration, cmd *redis.Command) error {
	until := c.world.now + timeout
	n := c.conns[s.n]
	if !n.open {
		n = c.world.connect(c, s)
		c.conns[s.n] = n
		if err := c.exchange(n, dial, until, nil); err != nil || !n.open { // it may have been reset during a pause
			return errUnreachable // the request itself was never sent
		}
	}
	return c.exchange(n, call, until, cmd)
}

// exchange sends a message, with cmd or c.access if it is a call, and waits for
// its answer.
//
// A client that was paused beyond its time-out finds two things when it goes
// on: the time-out, and the answer in its kernel's buffer. In a real client
// either may come first. Here the answer always does: it is what does harm,
// because a client that is told of a grant whose lease has run out goes on to
// use it, while one that is told of a time-out gives up.
func (c *client) exchange(n *conn, k kind, until time.Duration, cmd *redis.Command) error {
	w := c.world
	m := w.newMessage(n, k, true)
	m.op = c.op.Index
	if cmd != nil {
		m.command = *cmd
	} else if k == call {
		m.access = c.access
	}
	n.waiter, c.err = w.current, nil
	w.send(m)
	err := cluster.ErrTimeout
	if c.park(until) {
		err = c.err
	} else {
		n.waiter, n.open = nil, false
	}
	c.journal.result(n.server, k, &c.reply, &c.answer, err)
	return err
}

// receive is an answer's arrival at the client.
func (c *client) receive(m *message) {
	n := m.conn
	t := n.waiter
	switch {
	case m.kind == rst:
		n.reset()
		t = nil
	case t != nil:
		// The kernel has the connection now, whether or not the client runs.
		n.open = m.err == nil
		n.waiter, c.err, c.reply, c.answer = nil, m.err, m.reply, m.answer
	}
	c.world.free = append(c.world.free, m)
	if t != nil {
		t.answer()
	}
}

// named is the client that a fault acts on.
func (w *World) named(name string) (*client, error) {
	c := w.find(name)
	if c == nil {
		return nil, fmt.Errorf("sim: no client %q", name)
	}
	return c, nil
}

// Pause stops everything on the client's host.
func (w *World) Pause(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	c.paused = true
	return nil
}

// Resume lets it go on: first what had become runnable meanwhile.
func (w *World) Resume(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	c.paused = false
	c.wake()
	return nil
}

// wake lets every task that the pause kept go on.
func (c *client) wake() {
	for _, t := range c.runnable {
		t.wakeAt(c.world.now)
	}
	for _, t := range c.waiting {
		t.wakeAt(c.world.now)
	}
	c.runnable, c.waiting = c.runnable[:0], c.waiting[:0]
}

// Kill ends the client. A task that is on its host unwinds when it is woken,
// and no answer finds it any more.
func (w *World) Kill(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	c.dead = true
	for _, n := range c.conns {
		n.waiter = nil
	}
	c.wake()
	for _, t := range w.tasks {
		if t.client == c && t != w.current {
			t.wakeAt(w.now)
		}
	}
	return nil
}

// PowerOff ends the client without a word. These servers do nothing when a
// connection is reset, so it is a kill.
func (w *World) PowerOff(name string) error { return w.Kill(name) }
