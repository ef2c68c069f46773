package bubble_test

import (
	"context"
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

// All wall clocks show the same time, and a key with words before the name of the lock is
// an entry of it, if it is no counter.
func TestKeysAndClocksOfLibraries(t *testing.T) {
	bubble.Seedable(t)
	l := bubbletest.Library{Lock: bubble.Lock("prefixed", catalogue.StoreRedis, 1, 0)}
	l.New = func(s userlock.Site) (bubbletest.Lock, error) {
		c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext})
		return bubbletest.Lock{
			Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
				if at, err := c.Time(ctx).Result(); err == nil && time.Since(at).Abs() > time.Second {
					t.Errorf("the wall clock of the client shows %v, that of the server %v", time.Now(), at)
				}
				c.Incr(ctx, "token:"+name)
				ok, err := c.SetNX(ctx, "lock:{"+name+"}", "x", s.Lease()).Result()
				if err == nil && !ok {
					err = bubbletest.ErrTaken
				}
				return func(ctx context.Context) error { return c.Del(ctx, "lock:{"+name+"}").Err() }, err
			},
			Close: func() { c.Close() },
		}, nil
	}
	j, _, err := harness.Simulate(l.Simulator(t), l.Settings(nil).Plan(0))
	if err != nil {
		t.Fatal(err)
	}
	granted := map[string]int{}
	for _, e := range j.History.Entries {
		if e.F == history.Granted {
			granted[e.Key]++
		}
	}
	if granted["lock:{a}"] != 20 || len(granted) != 1 {
		t.Errorf("granted by key: %v, want 20 of lock:{a}", granted)
	}
	for _, v := range j.Verdicts {
		if v.Outcome == checker.Violated {
			t.Errorf("%s: %s", v.Property, v.Reason)
		}
	}
}
