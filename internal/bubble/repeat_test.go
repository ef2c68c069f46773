package bubble_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// The client libraries in go.mod. The runtime's select, and the order of a map's keys,
// have a say in what go-zookeeper does.
var libraries = map[string]bubbletest.Library{
	"go-redis":     {Lock: bubble.Lock("go-redis", catalogue.StoreRedis, 1, 0), New: newGoRedis},
	"go-zookeeper": {Lock: bubble.Lock("go-zookeeper", catalogue.StoreZooKeeper, 0, 0), New: newZooKeeper, Differ: 5},
}

func TestOneSeedGivesOneHistory(t *testing.T) {
	for name, l := range libraries {
		t.Run(name, func(t *testing.T) { bubbletest.Repeat(t, l) })
	}
}

func BenchmarkBubble(b *testing.B) {
	for name, l := range libraries {
		b.Run(name, func(b *testing.B) { bubbletest.Benchmark(b, l) })
	}
}

func newGoRedis(s userlock.Site) (bubbletest.Lock, error) {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext})
	return bubbletest.Lock{
		Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
			ok, err := c.SetNX(ctx, name, "x", s.Lease()).Result()
			if err == nil && !ok {
				err = bubbletest.ErrTaken
			}
			return func(ctx context.Context) error { return c.Del(ctx, name).Err() }, err
		},
		Close: func() { c.Close() },
	}, nil
}

func newZooKeeper(s userlock.Site) (bubbletest.Lock, error) {
	dial := func(network, addr string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return s.DialContext(ctx, network, addr)
	}
	c, _, err := zk.Connect(s.Addrs(), s.Lease(), zk.WithDialer(dial), zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return bubbletest.Lock{}, err
	}
	return bubbletest.Lock{
		Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
			l := zk.NewLock(c, "/"+name, zk.WorldACL(zk.PermAll))
			got := make(chan error, 1)
			go func() { got <- l.Lock() }()
			select {
			case err := <-got:
				return func(context.Context) error { return l.Unlock() }, err
			case <-ctx.Done():
				go func() {
					if <-got == nil {
						l.Unlock()
					}
				}()
				return nil, ctx.Err()
			}
		},
		Close: c.Close,
	}, nil
}

// silent writes no log.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Errors of several servers that come at one instant come in an order that chance decides:
// the history has them in another.
func TestErrorsOfSeveralServersHaveAnOrder(t *testing.T) {
	bubble.Seedable(t)
	orders := [][]string{{"b", "a", "c"}, {"c", "b", "a"}}
	var texts []string
	for _, order := range orders {
		l := bubbletest.Library{Lock: bubble.Lock("errors", catalogue.StoreRedis, 1, 0)}
		l.New = func(s userlock.Site) (bubbletest.Lock, error) {
			return bubbletest.Lock{
				Acquire: func(ctx context.Context, _ string) (func(context.Context) error, error) {
					conn, err := s.DialContext(ctx, "tcp", s.Addrs()[0])
					if err != nil {
						return nil, err
					}
					conn.Close()
					return nil, fmt.Errorf("no majority:\n%s", strings.Join(order, "\n"))
				},
				Close: func() {},
			}, nil
		}
		j, _, err := harness.Simulate(l.Simulator(t), l.Settings(nil).Plan(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range j.History.Entries {
			if e.Type == history.Info && e.Client != "" {
				texts = append(texts, e.Text)
				break
			}
		}
	}
	if len(texts) != 2 || texts[0] != texts[1] || texts[0] != "no majority:\na\nb\nc" {
		t.Errorf("the texts are %q", texts)
	}
}
