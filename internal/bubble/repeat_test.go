package bubble_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
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
