package zookeeper_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	zklocks "github.com/lockcheck/lockcheck/locks/zookeeper"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

const (
	second = time.Second
	lease  = 10 * second // T
	never  = time.Duration(math.MaxInt64)
)

// desk is a place in which tests pass time: one ensemble, clients, and their
// tasks, which run in the order of time, one at a time, while the test waits.
type desk struct {
	*ensemble
	t       *testing.T
	now     time.Duration
	clients []*client
	tasks   []*task
	running *task // nil: the test itself
	log     []string
	inside  int
	most    int // inside at the same time
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t}
	d.ensemble = newEnsemble(d)
	t.Cleanup(func() {
		for _, k := range d.tasks {
			k.kill()
		}
	})
	return d
}

// client is a host, and its way to the ensemble.
type client struct {
	*desk
	name        string
	uniques     int
	dead        bool
	news        []time.Duration // when it was told of a loss
	places      []int64         // in the queue that it was told of
	sent        []string
	opened      []*session
	faults      map[int]fault // by request, from 1
	unreachable error         // what an open says
	life        context.Context
}

func (d *desk) client() *client {
	c := &client{desk: d, name: fmt.Sprintf("c%d", len(d.clients)+1), faults: map[int]fault{}}
	life, end := context.WithCancel(context.Background())
	d.t.Cleanup(end)
	c.life = life
	d.clients = append(d.clients, c)
	return c
}

func (c *client) port() zookeeper.Port { return zookeeper.Port{Transport: c} }

func (c *client) Now() time.Time           { return time.Unix(0, 0).Add(c.now) }
func (c *client) Mono() time.Duration      { return c.now }
func (c *client) Mark(string, ...int64)    {}
func (c *client) Life() context.Context    { return c.life }
func (c *client) Rand(string, int64) int64 { return 0 }

func (c *client) Report(n locks.News) {
	if n.Queued != 0 {
		c.places = append(c.places, n.Queued-1)
		return
	}
	c.news = append(c.news, c.now)
}

func (c *client) Unique() string {
	c.uniques++
	return fmt.Sprintf("%s-%d", c.name, c.uniques)
}

func (c *client) Left(ctx context.Context) (time.Duration, bool) {
	return max(0, endOf(ctx)-c.now), endOf(ctx) != never
}

func (c *client) Sleep(ctx context.Context, t time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.running.asleep = true
	c.pass(min(c.now+max(t, 0), endOf(ctx)))
	return ctx.Err()
}

func (c *client) Backoff(ctx context.Context, shortest, _ time.Duration) error {
	return c.Sleep(ctx, shortest)
}

// kill is the end of a client, and of nothing else: its session lives on.
func (c *client) kill() {
	c.dead = true
	for _, k := range c.tasks {
		if k.client == c {
			k.kill()
		}
	}
}

// ends is a context that ends then.
func (c *client) ends(at time.Duration) context.Context {
	return deadline{context.WithValue(context.Background(), deadlineKey{}, at), c.desk, at}
}

type deadlineKey struct{}

type deadline struct {
	context.Context
	desk *desk
	at   time.Duration
}

func (c deadline) Err() error {
	if c.desk.now >= c.at {
		return context.DeadlineExceeded
	}
	return nil
}

func endOf(ctx context.Context) time.Duration {
	if at, ok := ctx.Value(deadlineKey{}).(time.Duration); ok {
		return at
	}
	return never
}

// task is a coroutine.
type task struct {
	client *client
	wake   time.Duration
	asleep bool // and not waiting for an answer
	done   bool
	awaits *task
	cancel context.CancelFunc
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// killed unwinds a task.
type killed struct{}

func (c *client) start(body func(context.Context)) *task {
	ctx, cancel := context.WithCancel(c.life)
	k := &task{client: c, wake: c.now, cancel: cancel}
	k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != (killed{}) {
				panic(r)
			}
		}()
		k.yield = yield
		body(ctx)
	})
	c.tasks = append(c.tasks, k)
	return k
}

func (c *client) Go(body func(context.Context)) locks.Task { return c.start(body) }

func (k *task) kill() {
	k.cancel()
	k.stop()
	k.done = true
}

func (k *task) Stop() {
	k.cancel()
	if k.asleep {
		k.wake = k.client.now
	}
}

func (k *task) Wait() {
	if !k.done {
		k.client.running.awaits = k
		k.client.pass(never)
	}
}

// pass lets time pass for who calls it, and the others run.
func (d *desk) pass(until time.Duration) {
	if k := d.running; k != nil {
		k.wake = until
		if k.client.dead || !k.yield(struct{}{}) {
			panic(killed{})
		}
		k.asleep = false
		return
	}
	for d.step(until) {
	}
	d.now = max(d.now, until)
}

// step runs the task that is due first, if one is until then.
func (d *desk) step(until time.Duration) bool {
	var first *task
	for _, k := range d.tasks {
		if !k.done && k.wake <= until && k.wake != never && (first == nil || k.wake < first.wake) {
			first = k
		}
	}
	if first == nil {
		return false
	}
	d.now = max(d.now, first.wake)
	d.running = first
	_, more := first.next()
	d.running, first.done = nil, !more
	for _, k := range d.tasks {
		if first.done && k.awaits == first {
			k.awaits, k.wake = nil, d.now
		}
	}
	return true
}

type makeLock func(locks.Host, zookeeper.Port, zklocks.Options) locks.Locker

var options = zklocks.Options{TTL: lease}

// run is a client that wants the lock a, and does what it guards for so long.
type run struct {
	*client
	lock locks.Locker
	task *task
	err  error
}

// wants starts one, who gives up then.
func (c *client) wants(create makeLock, works, end time.Duration) *run {
	return c.again(create(c, c.port(), options), works, end)
}

// again is one with a lock that is there already.
func (c *client) again(l locks.Locker, works, end time.Duration) *run {
	r := &run{client: c, lock: l}
	r.task = c.start(func(context.Context) {
		ctx := c.ends(end)
		runner, ok := l.(locks.Runner)
		if ok {
			r.err = runner.Run(ctx, "a", func(context.Context, locks.Lease) { c.works(works) })
			return
		}
		lease, err := l.Acquire(ctx, "a")
		if err == nil {
			c.works(works)
			err = lease.Release(c.life)
		}
		r.err = err
	})
	return r
}

// works is the critical section.
func (c *client) works(d time.Duration) {
	c.log = append(c.log, c.name+" in")
	c.inside++
	c.most = max(c.most, c.inside)
	_ = c.Sleep(c.life, d)
	c.inside--
	c.log = append(c.log, c.name+" out")
}

// story fails the test if anything else happened.
func (d *desk) story(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.log, want) {
		d.t.Errorf("%q, want %q", d.log, want)
	}
}
