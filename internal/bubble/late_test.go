package bubble_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// A request that an abandoned acquire sends late belongs to no later operation: nobody is
// accused of what it did.
func TestLateRequestsOfAbandonedAcquires(t *testing.T) {
	bubble.Seedable(t)
	l := bubbletest.Library{Lock: bubble.Lock("late", catalogue.StoreRedis, 1, 0)}
	var late atomic.Int64 // several clients, each with goroutines
	l.New = func(s userlock.Site) (bubbletest.Lock, error) {
		c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext})
		acquires := 0
		return bubbletest.Lock{
			Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
				if acquires++; acquires == 2 {
					go func() {
						time.Sleep(s.Lease() / 4)
						late.Add(1)
						c.SetNX(context.Background(), name, "x", s.Lease())
					}()
					return nil, context.DeadlineExceeded
				}
				ok, err := c.SetNX(ctx, name, "x", s.Lease()).Result()
				if err == nil && !ok {
					err = bubbletest.ErrTaken
				}
				return func(ctx context.Context) error { return c.Del(ctx, name).Err() }, err
			},
			Close: func() { c.Close() },
		}, nil
	}
	for i := range 20 {
		j, _, err := harness.Simulate(l.Simulator(t), l.Settings(nil).Plan(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []checker.Property{checker.Ownership, checker.Answers} {
			if j.Outcome(p) == checker.Violated {
				t.Errorf("run %d: %s is violated", i, p)
			}
		}
		abandoned := map[string]bool{}
		for _, e := range j.History.Entries {
			if e.Type == history.Info && e.Client != "" {
				abandoned[e.Client] = true
			}
		}
		if len(abandoned) == 0 {
			t.Errorf("run %d: no acquire was abandoned", i)
		}
	}
	if late.Load() == 0 {
		t.Error("no request came late")
	}
}
