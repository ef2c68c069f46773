package bubble_test

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// A client relies on its lock for the time that it asked for, by its own clock: a server
// whose clock is wrong drops an entry earlier or later. That is so for a time to live, for
// an instant by the client's clock, and for one that a script derives from the server's.
func TestGrantsEndByTheClocksOfClients(t *testing.T) {
	bubble.Seedable(t)
	for name, set := range map[string]func(context.Context, *goredis.Client, string, time.Duration) (bool, error){
		"a time to live": func(ctx context.Context, c *goredis.Client, name string, lease time.Duration) (bool, error) {
			return c.SetNX(ctx, name, "x", lease).Result()
		},
		"an instant": func(ctx context.Context, c *goredis.Client, name string, lease time.Duration) (bool, error) {
			err := c.Do(ctx, "SET", name, "x", "NX", "PXAT", time.Now().Add(lease).UnixMilli()).Err()
			return err == nil, notNil(err)
		},
		"an instant for a key": func(ctx context.Context, c *goredis.Client, name string, lease time.Duration) (bool, error) {
			ok, err := c.SetNX(ctx, name, "x", 0).Result()
			if ok {
				err = c.PExpireAt(ctx, name, time.Now().Add(lease)).Err()
			}
			return ok, err
		},
		"an instant of the server": func(ctx context.Context, c *goredis.Client, name string, lease time.Duration) (bool, error) {
			n, err := c.Eval(ctx, `local t = redis.call("TIME")
				if not redis.call("SET", KEYS[1], "x", "NX", "PXAT", t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[1]) then return 0 end
				return 1`, []string{name}, lease.Milliseconds()).Int()
			return n == 1, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ahead := range []time.Duration{-4 * time.Second, 4 * time.Second} {
				l := bubbletest.Library{Lock: bubble.Lock("expiry", catalogue.StoreRedis, 1, 0)}
				l.New = func(s userlock.Site) (bubbletest.Lock, error) {
					c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext})
					return bubbletest.Lock{
						Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
							ok, err := set(ctx, c, name, s.Lease())
							if err == nil && !ok {
								err = bubbletest.ErrTaken
							}
							return func(ctx context.Context) error { return c.Del(ctx, name).Err() }, err
						},
						Close: func() { c.Close() },
					}, nil
				}
				plan := l.Settings(nil).Plan(0)
				plan.Faults = []faults.Injection{{Fault: "server-skew", On: []string{"redis-1"}, At: time.Nanosecond, Amount: ahead}}
				j, _, err := harness.Simulate(l.Simulator(t), plan)
				if err != nil {
					t.Fatal(err)
				}
				grants := 0
				for _, e := range j.History.Entries {
					if e.Type != history.OK || e.F != history.Acquire {
						continue
					}
					grants++
					if least := e.Time + plan.Lease - time.Second; e.ValidUntil < least || e.ValidUntil > e.Time+plan.Lease {
						t.Errorf("with a server %v ahead: granted at %v until %v", ahead, e.Time, e.ValidUntil)
					}
				}
				if grants == 0 {
					t.Error("no client got the lock")
				}
			}
		})
	}
}

func notNil(err error) error {
	if err == goredis.Nil {
		return nil
	}
	return err
}
