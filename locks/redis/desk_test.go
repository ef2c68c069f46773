package redis_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
	"github.com/lockcheck/lockcheck/stores/redis"
	"github.com/lockcheck/lockcheck/stores/redis/model"
)

// desk is a host on which a test sees every request, answers it or lets a model
// server do so, and passes time. Tasks run in the order of time, one at a time,
// while the test waits.
type desk struct {
	nodes    []*node
	sent     []string
	timeouts []time.Duration // of what was sent
	waits    []time.Duration // the least and the spread of each random wait
	news     []locks.News
	uniques  int
	once     bool // the caller's time is up before the second try

	now     time.Duration
	skew    time.Duration // of the wall clock
	tasks   []*task
	running *task // nil: the test itself
	life    context.Context
	end     context.CancelFunc
}

// node is the way to one server.
type node struct {
	desk    *desk
	prefix  string // of its requests in desk.sent
	server  *model.Server
	answers []any // for its requests in order; then, and for nil, the server's own
}

// What a node may answer, beside a redis.Reply, an error and nil.
type (
	silence   struct{} // nothing, and the request is never executed
	noAnswer  struct{} // nothing, and the request is executed
	slowReply time.Duration
)

var (
	errLost  = errors.New("no answer")
	errNever = locks.Definite(errors.New("cannot connect"))
)

const never = time.Duration(math.MaxInt64)

// newDesk is a desk with one server, which answers so first.
func newDesk(t *testing.T, answers ...any) *desk {
	d := newNodes(t, 1)
	d.nodes[0].prefix, d.nodes[0].answers = "", answers
	return d
}

// newNodes is a desk with n servers.
func newNodes(t *testing.T, n int) *desk {
	d := &desk{}
	d.life, d.end = context.WithCancel(context.Background())
	t.Cleanup(func() {
		d.end()
		for _, k := range d.tasks {
			k.stop()
		}
	})
	for i := range n {
		d.nodes = append(d.nodes, d.node(strconv.Itoa(i+1)+": "))
	}
	return d
}

func (d *desk) node(prefix string) *node {
	return &node{desk: d, prefix: prefix, server: model.New(model.Options{})}
}

func (d *desk) port() redis.Port { return redis.Port{Transport: d.nodes[0]} }

func (d *desk) ports() (ports []redis.Port) {
	for _, n := range d.nodes {
		ports = append(ports, redis.Port{Transport: n})
	}
	return ports
}

func (d *desk) Now() time.Time      { return time.Unix(0, 0).Add(d.now + d.skew) }
func (d *desk) Mono() time.Duration { return d.now }

func (d *desk) Left(ctx context.Context) (time.Duration, bool) {
	at, ok := ctx.Value(deadlineKey{}).(time.Duration)
	return max(0, at-d.now), ok
}

func (d *desk) Sleep(ctx context.Context, t time.Duration) error {
	until := d.now + max(t, 0)
	if at, ok := ctx.Value(deadlineKey{}).(time.Duration); ok {
		until = min(until, max(at, d.now))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.running != nil {
		d.running.asleep = true
	}
	d.pass(until)
	return ctx.Err()
}

func (d *desk) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	d.waits = append(d.waits, shortest, spread)
	if d.once {
		return context.DeadlineExceeded
	}
	return d.Sleep(ctx, shortest)
}
func (d *desk) Mark(string, ...int64)    {}
func (d *desk) Rand(string, int64) int64 { return 0 }
func (d *desk) Unique() string           { d.uniques++; return "id" + strconv.Itoa(d.uniques) }
func (d *desk) Life() context.Context    { return d.life }
func (d *desk) Report(n locks.News)      { d.news = append(d.news, n) }

// until is a context that ends then.
func (d *desk) until(at time.Duration) context.Context {
	return deadline{context.WithValue(context.Background(), deadlineKey{}, at), d, at}
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

// task is a coroutine.
type task struct {
	desk   *desk
	wake   time.Duration
	asleep bool // and not waiting for an answer
	done   bool
	awaits *task
	cancel context.CancelFunc
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

func (d *desk) Go(body func(context.Context)) locks.Task {
	ctx, cancel := context.WithCancel(d.life)
	k := &task{desk: d, wake: d.now, cancel: cancel}
	k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
		k.yield = yield
		body(ctx)
	})
	d.tasks = append(d.tasks, k)
	return k
}

func (k *task) Stop() {
	k.cancel()
	if k.asleep {
		k.wake = k.desk.now
	}
}

func (k *task) Wait() {
	d := k.desk
	if own := d.running; own != nil && !k.done {
		own.awaits = k
		d.pass(never)
	}
	for !k.done {
		d.step(never)
	}
}

// pass lets time pass for who calls it, and the others run.
func (d *desk) pass(until time.Duration) {
	if k := d.running; k != nil {
		k.wake = until
		k.yield(struct{}{})
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

// A request takes a millisecond, and is executed half-way.
func (n *node) Do(ctx context.Context, timeout time.Duration, c redis.Command) (redis.Reply, error) {
	d := n.desk
	if err := ctx.Err(); err != nil {
		return redis.Reply{}, locks.Definite(err)
	}
	words := c.Args()
	if c.Verb.Script() != "" {
		words = append([]string{"script"}, words[3:]...) // EVAL text numkeys
	}
	d.sent = append(d.sent, n.prefix+strings.Join(words, " "))
	d.timeouts = append(d.timeouts, timeout)
	var answer any
	if len(n.answers) > 0 {
		answer, n.answers = n.answers[0], n.answers[1:]
	}
	sent, took := d.now, time.Millisecond
	if slow, ok := answer.(slowReply); ok {
		took = time.Duration(slow)
	}
	d.pass(sent + took/2)
	switch a := answer.(type) {
	case silence:
		d.pass(sent + timeout)
		return redis.Reply{}, errLost
	case noAnswer:
		n.server.Apply(d.now, 0, c)
		d.pass(sent + timeout)
		return redis.Reply{}, errLost
	case redis.Reply:
		d.pass(sent + took)
		return a, nil
	case error:
		d.pass(sent + took)
		return redis.Reply{}, a
	}
	reply := n.server.Apply(d.now, 0, c)
	d.pass(sent + took)
	return reply, nil
}

// value is what a node holds under a, "" if nothing.
func (n *node) value() string {
	return n.server.Apply(n.desk.now, 0, redis.Command{Verb: redis.Get, Key: "a"}).Str
}

// holds gives a node a key without a request.
func (n *node) holds(value string, ttl time.Duration) {
	n.server.Apply(n.desk.now, 0, redis.Command{Verb: redis.Set, Key: "a", Value: value, TTL: ttl})
}

type makeLock func(locks.Host, redis.Port, redislocks.Options) locks.Locker

type makeRedlock func(locks.Host, []redis.Port, redislocks.Options) locks.Locker

func reply(n int64) redis.Reply { return redis.Reply{Kind: redis.Int, Int: n} }

func bulk(s string) redis.Reply { return redis.Reply{Kind: redis.Bulk, Str: s} }

// take is an acquire that has to succeed.
func take(t *testing.T, l locks.Locker) locks.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func until(l locks.Lease) time.Duration { return l.(locks.Deadliner).Until() }
