package mysql_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	mysqllocks "github.com/lockcheck/lockcheck/locks/mysql"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

const (
	ms     = time.Millisecond
	second = time.Second
	lease  = 10 * second // T
	never  = time.Duration(math.MaxInt64)
)

// desk is a place in which tests pass time: one server, clients, and their
// tasks, which run in the order of time, one at a time, while the test waits.
type desk struct {
	*server
	t       *testing.T
	now     time.Duration
	clients []*client
	tasks   []*task
	running *task // nil: the test itself
	log     []string
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, server: newServer()}
	t.Cleanup(func() {
		for _, k := range d.tasks {
			k.cancel()
			k.stop()
		}
	})
	return d
}

// client is a host, and its way to the server.
type client struct {
	*desk
	name    string
	skew    time.Duration // of its wall clock
	away    bool          // it stands still
	slow    time.Duration // how much longer a statement takes than the millisecond
	uniques int
	lost    []time.Duration // when it was told of a loss
	places  []int64         // in the queue that it was told of
	sent    []string
	faults  map[int]fault // by statement, from 1
	idle    []*session

	unanswered string // in the first statement with this the fault is lostWord
	life       context.Context
}

func (d *desk) client() *client {
	c := &client{desk: d, name: fmt.Sprintf("c%d", len(d.clients)+1), faults: map[int]fault{}}
	life, end := context.WithCancel(context.Background())
	d.t.Cleanup(end)
	c.life = life
	d.clients = append(d.clients, c)
	return c
}

func (c *client) port() mysql.Port { return mysql.Port{Transport: c} }

func (c *client) Now() time.Time           { return time.Unix(1000, 0).Add(c.now + c.skew) }
func (c *client) Mono() time.Duration      { return c.now }
func (c *client) Mark(string, ...int64)    {}
func (c *client) Life() context.Context    { return c.life }
func (c *client) Rand(string, int64) int64 { return 0 }

func (c *client) Unique() string {
	c.uniques++
	return fmt.Sprintf("%s-%d", c.name, c.uniques)
}

func (c *client) Report(n locks.News) {
	if n.Queued != 0 {
		c.places = append(c.places, n.Queued-1)
		return
	}
	c.lost = append(c.lost, c.now)
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

// ended unwinds a task.
type ended struct{}

func (c *client) start(body func(context.Context)) *task {
	ctx, cancel := context.WithCancel(c.life)
	k := &task{client: c, wake: c.now, cancel: cancel}
	k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != (ended{}) {
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
		if !k.yield(struct{}{}) {
			panic(ended{})
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
		if !k.done && !k.client.away && k.wake <= until && k.wake != never && (first == nil || k.wake < first.wake) {
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

type makeLock func(locks.Host, mysql.Port, mysqllocks.Options) locks.Locker

// lock is one of the client's, with options beside those that all have.
func (c *client) lock(create makeLock, set ...func(*mysqllocks.Options)) locks.Locker {
	o := mysqllocks.Options{TTL: lease, Address: c.name, Thread: "main"}
	for _, f := range set {
		f(&o)
	}
	return create(c, c.port(), o)
}

// run is a client that wants the lock a, and does what it guards for so long.
type run struct {
	*client
	task     *task
	lease    locks.Lease
	acquired time.Duration
	err      error // of the acquire
	released error
}

// wants starts one, who gives up then.
func (c *client) wants(l locks.Locker, works, end time.Duration) *run {
	r := &run{client: c}
	r.task = c.start(func(context.Context) {
		r.lease, r.err = l.Acquire(c.ends(end), "a")
		if r.acquired = c.now; r.err != nil {
			c.log = append(c.log, c.name+" no")
			return
		}
		c.log = append(c.log, c.name+" in")
		_ = c.Sleep(c.life, works)
		c.log = append(c.log, c.name+" out")
		r.released = r.lease.Release(c.life)
	})
	return r
}

// does runs f as a task of the client's, for so long.
func (c *client) does(d time.Duration, f func()) {
	c.t.Helper()
	k := c.start(func(context.Context) { f() })
	if c.pass(c.now + d); !k.done {
		c.t.Fatal("it does not end")
	}
}

// take is an acquire that has to succeed soon.
func (c *client) take(l locks.Locker) (g locks.Lease) {
	c.t.Helper()
	var err error
	c.does(second, func() { g, err = l.Acquire(c.ends(c.now+second), "a") })
	if err != nil {
		c.t.Fatal(err)
	}
	return g
}

// release gives g back.
func (c *client) release(g locks.Lease) (err error) {
	c.t.Helper()
	c.does(2*lease, func() { err = g.Release(c.life) })
	return err
}

// story fails the test if anything else happened.
func (d *desk) story(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.log, want) {
		d.t.Errorf("%q, want %q", d.log, want)
	}
}
