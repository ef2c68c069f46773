package bubble_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// freeWithSignal deletes a lock, and leaves an element in a list for one of those that wait.
var freeWithSignal = goredis.NewScript(`
if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("del", KEYS[2])
redis.call("lpush", KEYS[2], 1)
redis.call("pexpire", KEYS[2], ARGV[2])
return redis.call("del", KEYS[1])`)

// signals is a lock whose waiters wait in BLPOP.
func signals() bubbletest.Library {
	l := bubbletest.Library{Lock: bubble.Lock("signals", catalogue.StoreRedis, 1, 0)}
	l.New = func(s userlock.Site) (bubbletest.Lock, error) {
		c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext, MaxRetries: -1})
		n := 0
		return bubbletest.Lock{
			Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
				n++
				value, signal := fmt.Sprint(s.Client(), "-", n), "signal:"+name
				for {
					ok, err := c.SetNX(ctx, name, value, s.Lease()).Result()
					if ok || err != nil {
						return func(ctx context.Context) error {
							return freeWithSignal.Run(ctx, c, []string{name, signal}, value, s.Lease().Milliseconds()).Err()
						}, err
					}
					if err := c.BLPop(ctx, s.Lease()/2, signal).Err(); err != nil && !errors.Is(err, goredis.Nil) {
						return nil, err
					}
				}
			},
			Close: func() { c.Close() },
		}, nil
	}
	return l
}

// A client that waits in BLPOP gets the lock right after its release, or after a timeout. A
// list of signals is no entry of the lock, although it has its name. Runs repeat.
func TestWaitersInAPopThatWaits(t *testing.T) {
	bubble.Seedable(t)
	l := signals()
	j, _, err := harness.Simulate(l.Simulator(t), l.Settings(nil).Plan(0))
	if err != nil {
		t.Fatal(err)
	}
	grants := 0
	for _, e := range j.History.Entries {
		switch {
		case e.F == history.Granted && e.Key != "a":
			t.Errorf("an entry of the lock: %s", e.Key)
		case e.F == history.Acquire && e.Type == history.OK:
			grants++
		}
	}
	if grants != 20 {
		t.Errorf("%d grants, want 20", grants)
	}
	for _, v := range j.Verdicts {
		if v.Outcome == checker.Violated {
			t.Errorf("%s: %s", v.Property, v.Reason)
		}
	}
}

// Whatever happens to clients and servers that wait, runs end and repeat.
func TestPopsThatWaitRepeat(t *testing.T) { bubbletest.Repeat(t, signals()) }
