package redis_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/lockstest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// desk is a host for tests. The test sees every request, answers it or lets a
// model server answer, and controls the time.
type desk struct {
	*lockstest.Desk
	*lockstest.Host
	nodes    []*node
	sent     []string
	timeouts []time.Duration // of the requests
	waits    []time.Duration // the minimum and the spread of each random wait
	news     []locks.News
	uniques  int
	endEarly bool // the caller's time ends before the second try
}

// node is a connection to one server.
type node struct {
	desk    *desk
	prefix  string // of its requests in desk.sent
	server  *model.Server
	answers []any // for its requests in order; afterwards, and for nil, the server answers
}

// These are possible answers beside a redis.Reply, an error and nil.
type (
	silence   struct{} // no answer, and the request is never executed
	noAnswer  struct{} // no answer, but the request is executed
	slowReply time.Duration
)

var (
	errLost  = errors.New("no answer")
	errNever = locks.Definite(errors.New("cannot connect"))
)

// newDesk returns a desk with one server. answers come first.
func newDesk(t *testing.T, answers ...any) *desk {
	d := newNodes(t, 1)
	d.nodes[0].prefix, d.nodes[0].answers = "", answers
	return d
}

// newNodes returns a desk with n servers.
func newNodes(t *testing.T, n int) *desk {
	d := &desk{Desk: lockstest.New(t)}
	d.Host = d.Desk.Host()
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

// Now returns the time since the desk's creation.
func (d *desk) Now() time.Time { return d.Host.Now().Add(-1000 * time.Second) }

func (d *desk) Backoff(ctx context.Context, shortest, spread time.Duration) error {
	d.waits = append(d.waits, shortest, spread)
	if d.endEarly {
		return context.DeadlineExceeded
	}
	return d.Sleep(ctx, shortest)
}

func (d *desk) Unique() string      { d.uniques++; return "id" + strconv.Itoa(d.uniques) }
func (d *desk) Report(n locks.News) { d.news = append(d.news, n) }

// Do takes a millisecond and executes the request half-way.
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
	sent, took := d.Time, time.Millisecond
	if slow, ok := answer.(slowReply); ok {
		took = time.Duration(slow)
	}
	d.Pass(sent + took/2)
	switch a := answer.(type) {
	case silence:
		d.Pass(sent + timeout)
		return redis.Reply{}, errLost
	case noAnswer:
		n.server.Apply(d.Time, 0, c)
		d.Pass(sent + timeout)
		return redis.Reply{}, errLost
	case redis.Reply:
		d.Pass(sent + took)
		return a, nil
	case error:
		d.Pass(sent + took)
		return redis.Reply{}, a
	}
	reply := n.server.Apply(d.Time, 0, c)
	d.Pass(sent + took)
	return reply, nil
}

// value returns the node's value of a, or "".
func (n *node) value() string {
	return n.server.Apply(n.desk.Time, 0, redis.Command{Verb: redis.Get, Key: "a"}).Str
}

// holds stores a key on a node without a request.
func (n *node) holds(value string, ttl time.Duration) {
	n.server.Apply(n.desk.Time, 0, redis.Command{Verb: redis.Set, Key: "a", Value: value, TTL: ttl})
}

type makeLock func(locks.Host, redis.Port, redislocks.Options) locks.Locker

type makeRedlock func(locks.Host, []redis.Port, redislocks.Options) locks.Locker

func reply(n int64) redis.Reply { return redis.Reply{Kind: redis.Int, Int: n} }

func bulk(s string) redis.Reply { return redis.Reply{Kind: redis.Bulk, Str: s} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take is an acquire that must succeed.
func take(t *testing.T, l locks.Locker) locks.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "a")
	must(t, err)
	return lease
}

func until(l locks.Lease) time.Duration { return l.(locks.Deadliner).Until() }
