package sim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// client is one client on a host of its own: the lock's Locker, what it holds, and
// the client libraries that the Locker calls.
type client struct {
	endpoint
	locker locks.Locker
	leases []heldLease
	visits []*visit // of a lock that calls the critical section itself

	// Of Redis:
	transports []transport  // to each node, and to the server of tokens
	ports      []redis.Port // of the transports
	masters    []*server    // of each node, as far as the client knows
	news       []*server    // masters announced during a pause
	// Of ZooKeeper:
	members  []*server // of the ensemble
	sessions pool[session]
	calls    pool[zkCall]
	// Of MySQL:
	pinned  pool[pinnedConn]
	ownPool connPool // of the first client of a process
}

// heldLease is a lease that has not been released.
type heldLease struct {
	acquire int // the index of its acquire
	lock    string
	lease   locks.Lease
}

// reset makes c the next client of n. Members are the servers of its ensemble.
func (c *client) reset(n *network, name string, members []*server) {
	*c = client{
		endpoint: endpoint{host: c.host, net: n, conns: c.conns[:0], spare: c.spare[:0]},
		leases:   c.leases[:0], visits: c.visits[:0], transports: c.transports[:0], ports: c.ports[:0], masters: c.masters[:0], news: c.news[:0],
		members: members, sessions: c.sessions, calls: c.calls, pinned: c.pinned, ownPool: c.ownPool,
	}
	c.host.reset(&n.scheduler, name, len(n.endpoints))
	c.sessions.recycle()
	c.calls.recycle()
	c.pinned.recycle()
	n.endpoints = append(n.endpoints, &c.endpoint)
	c.first = n.endpoints[c.n-c.n%max(1, n.cfg.Lock.Together)]
	c.connect(n)
	for _, s := range n.monitors {
		c.conns[s.n].owner = (*newsReader)(c)
	}
	for i := range n.cfg.Schedule {
		p := n.cfg.Schedule[i].Point
		c.armed = c.armed || p != nil && p.Client == name
	}
	env := catalogue.Env{Host: &c.host, Lease: n.cfg.Lease, Options: n.cfg.Options}
	for i, node := range n.nodes {
		c.transports = append(c.transports, transport{client: c, node: i})
		c.masters = append(c.masters, node.master)
	}
	if n.tokens != nil {
		c.transports = append(c.transports, transport{client: c, server: n.tokens})
	}
	for i := range c.transports {
		c.ports = append(c.ports, redis.Port{Transport: &c.transports[i]})
	}
	env.Redis = c.ports[:len(n.nodes):len(n.nodes)]
	if n.tokens != nil {
		env.Tokens = c.ports[len(n.nodes)]
	}
	if n.databases != nil {
		if c.first == &c.endpoint {
			c.pool = &c.ownPool
			c.pool.reset(&c.endpoint)
		}
		c.pool = c.first.pool
		env.Name(name)
	}
	env.MySQL = mysql.Port{Transport: (*mysqlTransport)(c)}
	env.ZooKeeper = zookeeper.Port{Transport: (*zkTransport)(c)}
	c.locker = n.cfg.Lock.New(env)
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

// do runs f, an operation, on the client's host: the running task steps onto the
// host, and off again however f ends.
func (c *client) do(op *env.Op, kind string, f func()) (err error) {
	if c.dead {
		return env.ErrCrashed
	}
	t := c.net.current
	c.operation = c.begin(op, kind)
	t.client, t.operation, t.err = &c.host, c.operation, nil
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

// CanTry implements env.Trier.
func (c *client) CanTry() bool {
	t, ok := c.locker.(locks.TryLocker)
	return ok && t.CanTry()
}

// Try asks the lock, without a wait.
func (c *client) Try(op env.Op, timeout time.Duration) (g env.Grant, err error) {
	return c.ask(&op, history.Try, timeout)
}

// Acquire asks the lock.
func (c *client) Acquire(op env.Op, timeout time.Duration) (g env.Grant, err error) {
	return c.ask(&op, history.Acquire, timeout)
}

func (c *client) ask(op *env.Op, kind string, timeout time.Duration) (g env.Grant, err error) {
	crash := c.do(op, kind, func() {
		c.deadline.end = c.net.now + timeout
		if c.net.order != nil {
			c.deadline.end = never // its caller ends it, at any time
		}
		var lease locks.Lease
		if r, ok := c.locker.(locks.Runner); ok {
			lease, err = c.enter(r, *op, timeout)
		} else if t, ok := c.locker.(locks.TryLocker); ok && kind == history.Try {
			lease, err = t.TryAcquire(&c.deadline, op.Lock)
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

// CanExtend implements env.Extender.
func (c *client) CanExtend(acquire int) bool {
	x, ok := c.lease(acquire).(locks.Extender)
	return ok && x.CanExtend()
}

// Extend extends a grant.
func (c *client) Extend(op env.Op) (until time.Duration, err error) {
	crash := c.do(&op, history.Extend, func() {
		lease := c.lease(op.Acquire)
		if err = lease.(locks.Extender).Extend(context.Background()); err == nil {
			until = c.grantOf(lease).ValidUntil
		}
	})
	return until, cmp.Or(crash, err)
}

// Release releases a grant.
func (c *client) Release(op env.Op) (err error) {
	crash := c.do(&op, history.Release, func() {
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
	crash := c.do(&op, history.Release, func() {
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

var (
	_ env.NameReleaser = (*client)(nil)
	_ env.Trier        = (*client)(nil)
	_ env.Extender     = (*client)(nil)
)

// Read reads the guarded resource.
func (c *client) Read(op env.Op) (v int64, err error) {
	a, err := c.accessResource(&op, history.Read, 0)
	return a.Value, err
}

// Write writes to the guarded resource.
func (c *client) Write(op env.Op, value int64) error {
	_, err := c.accessResource(&op, history.Write, value)
	return err
}

func (c *client) accessResource(op *env.Op, kind string, value int64) (answer env.Answer, err error) {
	crash := c.do(op, kind, func() {
		t := c.net.current
		a := &t.access
		a.Client, a.By, a.Grant, a.Lock = c.name, op.Index, op.Grant, op.Lock
		a.Write, a.Value, a.Token = kind == history.Write, value, 0
		if f, ok := c.lease(op.Acquire).(locks.Fencer); ok {
			a.Token = f.Token()
		}
		r := numberedRequest{operation: t.operation, n: 1} // another task of the client may change t.operation before the answer
		c.point(r, true, false)
		if err = c.request(c.net.resource, op.Timeout, nil); err == nil {
			answer = t.result
			if answer.Stale {
				err = env.ErrStaleToken
			}
		}
		c.point(r, true, true)
	})
	return answer, cmp.Or(crash, err)
}

// revalue reports the ends of the client's leases again after its clock has
// changed.
func (c *client) revalue() {
	for _, g := range c.leases {
		d, ok := g.lease.(locks.Deadliner)
		if !ok || c.dead || d.Until() <= c.clock.mono(c.net.now) { // over, or without a known end
			continue
		}
		c.net.observer.Report(history.Entry{
			Client: c.name, F: history.Valid, Lock: g.lock, Op: history.Some(int64(g.acquire)),
			ValidUntil: c.trueTime(d.Until()),
		})
	}
}
