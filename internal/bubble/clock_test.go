package bubble_test

import (
	"context"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// prefixed is a lock whose key is not the name of the lock alone. It counts with another
// key, and compares its wall clock with the server's.
type prefixed struct {
	naive
	t *testing.T
}

func (p prefixed) Acquire(ctx context.Context, name string) (userlock.Grant, error) {
	if at, err := p.c.Time(ctx).Result(); err == nil && time.Since(at).Abs() > time.Second {
		p.t.Errorf("the wall clock of the client shows %v, that of the server %v", time.Now(), at)
	}
	if err := p.c.Incr(ctx, "token:"+name).Err(); err != nil {
		return nil, err
	}
	return p.naive.Acquire(ctx, "lock:{"+name+"}")
}

// All wall clocks show the same time, and a key with words before the name of the lock is
// an entry of it.
func TestKeysAndClocksOfLibraries(t *testing.T) {
	seedable(t)
	l := library{lock: bubble.Lock("prefixed", catalogue.StoreRedis, 1, 0), make: func(s userlock.Site) (userlock.Lock, error) {
		return prefixed{naive{goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext}), s}, t}, nil
	}}
	j, _, err := harness.Simulate(bubble.Simulator(t, l.make), l.settings(nil).Plan(0))
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
