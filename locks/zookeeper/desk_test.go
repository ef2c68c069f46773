package zookeeper_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/lockstest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
)

const (
	second = time.Second
	lease  = 10 * second // T
	never  = lockstest.Never
)

// desk is one ensemble and its clients.
type desk struct {
	*lockstest.Desk
	*ensemble
	clients []*client
	inside  int
	most    int // the greatest number of clients inside at the same time
}

func newDesk(t *testing.T) *desk {
	d := &desk{Desk: lockstest.New(t)}
	d.ensemble = newEnsemble(d)
	return d
}

// client is a host with its connections to the ensemble.
type client struct {
	*desk
	*lockstest.Host
	sent        []string
	opened      []*session
	faults      map[int]fault // by request, from 1
	unreachable error         // the error of an open
}

func (d *desk) client() *client {
	c := &client{desk: d, Host: d.Host(), faults: map[int]fault{}}
	d.clients = append(d.clients, c)
	return c
}

func (c *client) port() zookeeper.Port { return zookeeper.Port{Transport: c} }

type makeLock func(locks.Host, zookeeper.Port, zklocks.Options) locks.Locker

var recipes = map[string]makeLock{
	"predecessor":      zklocks.NewPredecessor,
	"recheck":          zklocks.NewPredecessorRecheck,
	"leaky":            zklocks.NewPredecessorLeakyTimeout,
	"children":         zklocks.NewChildren,
	"recipe":           zklocks.NewRecipe,
	"recipe by czxids": byCzxids,
}

var options = zklocks.Options{TTL: lease}

// run is a client that acquires the lock a and holds it for some time.
type run struct {
	*client
	lock locks.Locker
	task *lockstest.Task
	err  error
}

// wants starts a run with a new lock. The client gives up at end.
func (c *client) wants(create makeLock, works, end time.Duration) *run {
	return c.wantsWith(create(c, c.port(), options), works, end)
}

// wantsWith starts a run with an existing lock.
func (c *client) wantsWith(l locks.Locker, works, end time.Duration) *run {
	r := &run{client: c, lock: l}
	r.task = c.Start(func(context.Context) {
		ctx := c.Ends(end)
		runner, ok := l.(locks.Runner)
		if ok {
			r.err = runner.Run(ctx, "a", func(context.Context, locks.Lease) { c.works(works) })
			return
		}
		lease, err := l.Acquire(ctx, "a")
		if err == nil {
			c.works(works)
			err = lease.Release(c.Life())
		}
		r.err = err
	})
	return r
}

// works is the critical section.
func (c *client) works(d time.Duration) {
	c.Log = append(c.Log, c.Name+" in")
	c.inside++
	c.most = max(c.most, c.inside)
	_ = c.Sleep(c.Life(), d)
	c.inside--
	c.Log = append(c.Log, c.Name+" out")
}
