package adapters_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	client "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// redsyncs are redsync on one server, and on five. A client that asks five servers at one
// instant is sometimes overtaken when the machine is busy: once in 8,000 runs at a load of 10.
var redsyncs = map[string]bubbletest.Library{
	"one":  {Lock: bubble.Lock("redsync", catalogue.StoreRedis, 1, 0), New: newBareRedsync},
	"five": {Lock: bubble.Lock("redsync", catalogue.StoreRedis, 5, 0), New: newBareRedsync, Differ: 2},
}

// The runs of redsync repeat, although it asks all servers at once.
func TestRedsyncRepeats(t *testing.T) {
	for name, l := range redsyncs {
		t.Run(name, func(t *testing.T) { bubbletest.Repeat(t, l) })
	}
}

func BenchmarkRedsync(b *testing.B) {
	for name, l := range redsyncs {
		b.Run(name, func(b *testing.B) { bubbletest.Benchmark(b, l) })
	}
}

// newBareRedsync is newRedsync below the API.
func newBareRedsync(s userlock.Site) (bubbletest.Lock, error) {
	var pools []redis.Pool
	var clients []*client.Client
	for _, addr := range s.Addrs() {
		// The default size of a pool depends on GOMAXPROCS.
		c := client.NewClient(&client.Options{Addr: addr, Dialer: s.DialContext, PoolSize: 10})
		pools, clients = append(pools, goredis.NewPool(c)), append(clients, c)
	}
	rs := redsync.New(pools...)
	return bubbletest.Lock{
		Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
			m := rs.NewMutex(name, redsync.WithExpiry(s.Lease()), redsync.WithTries(1))
			err := m.LockContext(ctx)
			if errors.As(err, new(*redsync.ErrTaken)) {
				err = bubbletest.ErrTaken
			}
			return func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}, err
		},
		Close: func() {
			for _, c := range clients {
				c.Close()
			}
		},
	}, nil
}
