package bubble_test

import (
	"context"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/bubble/bubbletest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// A killed client starts again: the factory makes it a new lock with other random numbers,
// and it goes on as a new process, with a new connection.
func TestKilledClientsStartAgain(t *testing.T) {
	bubble.Seedable(t)
	l := bubbletest.Library{Lock: bubble.Lock("restart", catalogue.StoreRedis, 1, 0)}
	var made atomic.Int64 // several clients, each with goroutines
	seeds := map[uint64]bool{}
	l.New = func(s userlock.Site) (bubbletest.Lock, error) {
		made.Add(1)
		if seeds[s.Seed()] {
			t.Errorf("%s has the random numbers of an earlier client", s.Client())
		}
		seeds[s.Seed()] = true
		c := goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext})
		return bubbletest.Lock{
			Acquire: func(ctx context.Context, name string) (func(context.Context) error, error) {
				ok, err := c.SetNX(ctx, name, s.Client(), s.Lease()).Result()
				if err == nil && !ok {
					err = bubbletest.ErrTaken
				}
				return func(ctx context.Context) error { return c.Del(ctx, name).Err() }, err
			},
			Close: func() { c.Close() },
		}, nil
	}
	kill, _ := faults.Find("kill")
	restarts, acquired := 0, 0
	for i := range 20 {
		made.Store(0)
		clear(seeds)
		j, _, err := harness.Simulate(l.Simulator(t), l.Settings([]faults.Fault{kill}).Plan(i))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []checker.Property{checker.Exclusion, checker.Answers, checker.Liveness} {
			if j.Outcome(p) == checker.Violated {
				t.Errorf("run %d: %s is violated: %+v", i, p, j.Verdicts)
			}
		}
		started := map[int]bool{} // by process
		for _, e := range j.History.Entries {
			switch {
			case e.F == history.Started:
				started[e.Process.N] = true
			case e.Type == history.OK && e.F == history.Acquire && started[e.Process.N]:
				acquired++
			}
		}
		if made.Load() != int64(4+len(started)) {
			t.Errorf("run %d: %d clients started again, and the factory was called %d times", i, len(started), made.Load())
		}
		restarts += len(started)
	}
	if restarts < 20 || acquired < restarts { // some are killed at the end of their script
		t.Errorf("%d clients started again, and were granted the lock %d times", restarts, acquired)
	}
}
