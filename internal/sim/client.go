package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// client is one client on a host of its own: the lock's Locker, its connections,
// and the effects of faults on the host.
type client struct {
	world   *World
	name    string
	n       int
	first   *client // the first of the clients in its process
	locker  locks.Locker
	conns   []*conn // by server; clients are connected when a run begins
	spare   []*conn // more of them, for tasks that use the same server at the same time
	leases  []heldLease
	visits  []*visit    // of a lock that calls the critical section itself
	ports   []transport // to each node, and to the server of tokens
	masters []*server   // of each node, as far as the client knows
	news    []*server   // masters announced during a pause
	clock   clock

	sessions []*session // with an ensemble
	pool     *connPool  // of its process, to a MySQL server; nil without one

	armed    bool // a fault waits for one of its points
	paused   bool
	hung     bool
	dead     bool
	runnable []*task // what became runnable during a pause or a hang
	waiting  []*task // tasks that step onto the host, or leave a point, when that ends

	deadline  deadline   // of the running acquire
	operation *operation // the running one, or the last one

	// In a run in which order decides:
	journal *journal // all that it has learnt; nil in other runs
	ops     []int    // the indices of its operations so far
	round   int      // Order.changes when its loop last began
	uniques int      // strings generated so far
}

// operation is a call from the client's caller. Tasks that it has started belong
// to it even after its end.
type operation struct {
	env.Op
	kind     string // its name
	over     bool
	waits    bool         // its caller knows that it goes on
	requests int          // sent so far
	answered int          // number of the last request with an answer
	sent     fmt.Stringer // the command of that request
	calls    int          // its calls of the port so far
}

// heldLease is a lease that has not been released.
type heldLease struct {
	acquire int // the index of its acquire
	lock    string
	lease   locks.Lease
}

// reset makes c the next client of w.
func (c *client) reset(w *World, name string) {
	*c = client{
		world: w, name: name, n: len(w.clients), deadline: deadline{client: c},
		conns: c.conns[:0], spare: c.spare[:0], leases: c.leases[:0], visits: c.visits[:0], ports: c.ports[:0], masters: c.masters[:0], news: c.news[:0],
		runnable: c.runnable[:0], waiting: c.waiting[:0], ops: c.ops[:0], sessions: c.sessions[:0],
	}
	c.first = c
	if from := c.n - c.n%max(1, w.cfg.Lock.Together); from < c.n {
		c.first = w.clients[from]
	}
	if w.order != nil {
		c.journal = w.memory.journals.next()
		c.journal.reset()
	}
	for _, s := range w.servers {
		s.links = append(s.links, link{name: w.memory.join(name, "→", s.name)})
		n := w.connect(c, s)
		// The ZooKeeper library connects to a member itself, and the process's
		// pool to MySQL.
		n.incarnation, n.open = s.incarnation, s.member == nil && s.database == nil
		c.conns = append(c.conns, n)
	}
	for i := range w.cfg.Schedule {
		p := w.cfg.Schedule[i].Point
		c.armed = c.armed || p != nil && p.Client == name
	}
	for i := range w.nodes {
		c.ports = append(c.ports, transport{client: c, node: i})
		c.masters = append(c.masters, w.nodes[i].master)
	}
	if w.tokens != nil {
		c.ports = append(c.ports, transport{client: c, server: w.tokens})
	}
	env := catalogue.Env{Host: (*host)(c), Lease: w.cfg.Lease, Options: w.cfg.Options}
	env.Redis = w.memory.ports(len(w.nodes))
	for i := range c.ports {
		port := redis.Port{Transport: &c.ports[i]}
		if i < len(w.nodes) {
			env.Redis[i] = port
		} else {
			env.Tokens = port
		}
	}
	if w.databases != nil {
		if c.pool = c.first.pool; c.first == c {
			c.pool = w.memory.connPools.next()
			c.pool.reset(c)
		}
		env.Name(name)
	}
	env.MySQL = mysql.Port{Transport: (*mysqlTransport)(c)}
	env.ZooKeeper = zookeeper.Port{Transport: (*zkTransport)(c)}
	c.locker = w.cfg.Lock.New(env)
}

// lease returns the lease of the acquire with that index, or nil after its
// release.
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

// Client returns the named client.
func (w *World) Client(name string) env.Client { return w.find(name) }

// do runs f, an operation, on the client's host: the running task steps onto the
// host, and off again however f ends.
func (c *client) do(op env.Op, kind string, f func()) (err error) {
	if c.dead {
		return env.ErrCrashed
	}
	t := c.world.current
	c.operation = c.begin(op, kind)
	t.client, t.operation, t.err = c, c.operation, nil
	if c.journal != nil {
		c.journal.begin(kind)
		c.ops = append(c.ops, op.Index)
	}
	defer func() {
		t.client = nil
		t.operation.over = !t.operation.waits
		if t.ending {
			return // perform recovers; a second panic would double the cost of the first
		}
		if p := recover(); p != nil {
			if _, ok := p.(unwindPanic); !ok {
				panic(p)
			}
			err = env.ErrCrashed
			if t.operation.calls > maxPortCalls {
				err = env.ErrBudget
			}
		}
	}()
	c.waitWhileStopped(false)
	f()
	return nil
}

// waitWhileStopped blocks the running task while its client is paused or hung. A hang blocks
// only the task of the caller and, with struck, this one.
func (c *client) waitWhileStopped(struck bool) {
	for (c.paused || c.hung && (struck || c.world.current.background == nil)) && !c.dead {
		c.waiting = append(c.waiting, c.world.current)
		c.park(never)
	}
	c.mustLive()
}

// mustLive ends the running task's operation if the client is dead.
func (c *client) mustLive() {
	if c.dead {
		panic(unwindPanic{})
	}
}

// trueTime returns the true time at which the client's monotonic clock shows
// until. 0 stays 0: no limit.
func (c *client) trueTime(until time.Duration) time.Duration {
	if until == 0 {
		return 0
	}
	return c.clock.when(until)
}

func (c *client) park(deadline time.Duration) (answered bool) {
	answered = c.world.current.park(deadline)
	c.mustLive()
	return answered
}

// point announces a point of an operation. A fault may pause, hang or kill the
// client there. Background work after the operation's end has no points.
func (c *client) point(r *numberedRequest, after bool) {
	o := r.operation
	if !c.armed || o.over {
		return
	}
	p := faults.Point{Client: c.name, Acquisition: o.Acquisition, Op: o.kind, After: after, Request: r.n, Last: r.last}
	if r.sends != nil {
		p.Sends = r.sends.String()
	}
	if !after && o.sent != nil && o.answered == r.n-1 {
		p.Sent = o.sent.String()
	}
	hung := c.hung
	c.world.observer.Point(c.name, o.Op, p)
	c.waitWhileStopped(c.hung && !hung)
}

// Acquire asks the lock.
func (c *client) Acquire(op env.Op, timeout time.Duration) (g env.Grant, err error) {
	crash := c.do(op, history.Acquire, func() {
		c.deadline.end = c.world.now + timeout
		if c.world.order != nil {
			c.deadline.end = never // its caller ends it, at any time
		}
		var lease locks.Lease
		if r, ok := c.locker.(locks.Runner); ok {
			lease, err = c.enter(r, op, timeout)
		} else if u, ok := c.locker.(locks.UnfairLocker); ok && op.Unfair {
			lease, err = u.AcquireUnfair(&c.deadline, op.Lock)
		} else {
			lease, err = c.locker.Acquire(&c.deadline, op.Lock)
		}
		if err != nil {
			return
		}
		c.leases = append(c.leases, heldLease{op.Index, op.Lock, lease})
		g = c.grantOf(lease)
	})
	return g, cmp.Or(crash, err)
}

// Release releases a grant.
func (c *client) Release(op env.Op) (err error) {
	crash := c.do(op, history.Release, func() {
		lease := c.lease(op.Acquire)
		c.forget(op.Acquire)
		if lease == nil {
			err = locks.ErrNotHeld
			return
		}
		if v := c.visit(op.Acquire); v != nil {
			err = c.exit(v)
			return
		}
		err = lease.Release(context.Background())
	})
	return cmp.Or(crash, err)
}

// ReleaseName releases by name, and drops the lease of op if the client has it.
func (c *client) ReleaseName(op env.Op) (err error) {
	crash := c.do(op, history.Release, func() {
		n, ok := c.locker.(locks.NameReleaser)
		if !ok {
			err = env.ErrNoReleaseName
			return
		}
		c.forget(op.Acquire)
		err = n.ReleaseName(context.Background(), op.Lock)
	})
	return cmp.Or(crash, err)
}

// forget drops the lease of the acquire with that index.
func (c *client) forget(acquire int) {
	c.leases = slices.DeleteFunc(c.leases, func(g heldLease) bool { return g.acquire == acquire })
}

var _ env.NameReleaser = (*client)(nil)

// Read reads the guarded resource.
func (c *client) Read(op env.Op) (v int64, err error) {
	a, err := c.accessResource(op, history.Read, 0)
	return a.Value, err
}

// Write writes to the guarded resource.
func (c *client) Write(op env.Op, value int64) error {
	_, err := c.accessResource(op, history.Write, value)
	return err
}

func (c *client) accessResource(op env.Op, kind string, value int64) (answer env.Answer, err error) {
	crash := c.do(op, kind, func() {
		a := env.Access{Client: c.name, By: op.Index, Grant: op.Grant, Lock: op.Lock, Write: kind == history.Write, Value: value}
		if f, ok := c.lease(op.Acquire).(locks.Fencer); ok {
			a.Token = f.Token()
		}
		timeout := op.Timeout
		if timeout == 0 {
			timeout = c.world.cfg.Lease / 4
		}
		t := c.world.current
		o := t.operation // another task of the client may have changed t.operation before the answer
		r := numberedRequest{client: c, operation: o, n: 1, last: true}
		c.point(&r, false)
		t.access = a
		if err = c.request(c.world.resource, timeout, nil); err == nil {
			answer = t.result
			if answer.Stale {
				err = env.ErrStaleToken
			}
		}
		c.point(&r, true)
	})
	return answer, cmp.Or(crash, err)
}

// revalue reports the ends of the client's leases again after its clock has
// changed.
func (c *client) revalue() {
	for _, g := range c.leases {
		d, ok := g.lease.(locks.Deadliner)
		if !ok || c.dead || d.Until() <= c.clock.mono(c.world.now) { // over, or without a known end
			continue
		}
		c.world.observer.Report(history.Entry{
			Client: c.name, F: history.Valid, Lock: g.lock, Op: history.Some(int64(g.acquire)),
			ValidUntil: c.trueTime(d.Until()),
		})
	}
}

// learn notes that s is the master of its node now. The library then leaves its
// connections to the other servers.
func (c *client) learn(s *server) {
	i := slices.Index(c.world.nodes, s.node)
	if c.masters[i] == s {
		return
	}
	c.masters[i] = s
	c.eachConn(func(n *conn) {
		if n.server.node == s.node && n.server != s {
			n.leave()
		}
	})
}

// eachConn calls f for every connection of the client.
func (c *client) eachConn(f func(*conn)) {
	for _, n := range c.conns {
		f(n)
	}
	for _, n := range c.spare {
		f(n)
	}
	if c.pool != nil && c == c.first {
		for _, n := range c.pool.conns {
			f(n)
		}
	}
}
