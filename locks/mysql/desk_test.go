package mysql_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/lockstest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
)

const (
	ms     = time.Millisecond
	second = time.Second
	lease  = 10 * second // T
	never  = lockstest.Never
)

// desk is one server and its clients.
type desk struct {
	*lockstest.Desk
	*server
}

func newDesk(t *testing.T) *desk { return &desk{lockstest.New(t), newServer()} }

// client is a host with its connections to the server.
type client struct {
	*desk
	*lockstest.Host
	slow   time.Duration // additional duration of a statement, beside one millisecond
	sent   []string
	faults map[int]fault // by statement, from 1
	idle   []*session

	unanswered string // the first statement with this text gets the fault lostWord
}

func (d *desk) client() *client {
	return &client{desk: d, Host: d.Host(), faults: map[int]fault{}}
}

func (c *client) port() mysql.Port { return mysql.Port{Transport: c} }

type makeLock func(locks.Host, mysql.Port, mysqllocks.Options) locks.Locker

// lock returns one of the client's locks, with these options and the common ones.
func (c *client) lock(create makeLock, set ...func(*mysqllocks.Options)) locks.Locker {
	o := mysqllocks.Options{TTL: lease, Address: c.Name, Thread: "main"}
	for _, f := range set {
		f(&o)
	}
	return create(c, c.port(), o)
}

// run is a client that acquires the lock a and holds it for some time.
type run struct {
	*client
	task     *lockstest.Task
	lease    locks.Lease
	acquired time.Duration
	err      error // returned by the acquire
	released error
}

// wants starts a run. The client gives up at end.
func (c *client) wants(l locks.Locker, works, end time.Duration) *run {
	r := &run{client: c}
	r.task = c.Start(func(context.Context) {
		r.lease, r.err = l.Acquire(c.Ends(end), "a")
		if r.acquired = c.Time; r.err != nil {
			c.Log = append(c.Log, c.Name+" no")
			return
		}
		c.Log = append(c.Log, c.Name+" in")
		_ = c.Sleep(c.Life(), works)
		c.Log = append(c.Log, c.Name+" out")
		r.released = r.lease.Release(c.Life())
	})
	return r
}

// take is an acquire that must succeed soon.
func (c *client) take(l locks.Locker) (g locks.Lease) {
	c.T.Helper()
	var err error
	c.Does(second, func(context.Context) { g, err = l.Acquire(c.Ends(c.Time+second), "a") })
	if err != nil {
		c.T.Fatal(err)
	}
	return g
}

// release releases g.
func (c *client) release(g locks.Lease) (err error) {
	c.T.Helper()
	c.Does(2*lease, func(context.Context) { err = g.Release(c.Life()) })
	return err
}
