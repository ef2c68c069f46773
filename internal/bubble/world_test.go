package bubble_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

type naive struct {
	c *goredis.Client
	s userlock.Site
}

func (n naive) Acquire(ctx context.Context, name string) (userlock.Grant, error) {
	for {
		ok, err := n.c.SetNX(ctx, name, "x", n.s.Lease()).Result()
		switch {
		case err != nil:
			return nil, err
		case ok:
			return held{n, name}, nil
		}
		select {
		case <-ctx.Done():
			return nil, locks.ErrNotAcquired
		case <-time.After(n.s.Lease() / 50):
		}
	}
}
func (n naive) Close() error                                        { return n.c.Close() }
func (n naive) Identity() any                                       { return n.c }
func (n naive) CanTry() bool                                        { return false }
func (n naive) Try(context.Context, string) (userlock.Grant, error) { panic(0) }
func (h held) CanExtend() bool                                      { return false }
func (h held) Extend(context.Context) error                         { panic(0) }

type held struct {
	n    naive
	name string
}

func (h held) Release(ctx context.Context) error {
	k, err := h.n.c.Del(ctx, h.name).Result()
	if err == nil && k == 0 {
		return locks.ErrNotHeld
	}
	return err
}
func (h held) Until() time.Time      { return time.Time{} }
func (h held) Token() uint64         { return 0 }
func (h held) Lost() <-chan struct{} { return nil }

func TestNaive(t *testing.T) {
	lock := bubble.Lock("naive", catalogue.StoreRedis, 1, 0)
	sim := bubble.Simulator(t, func(s userlock.Site) (userlock.Lock, error) {
		return naive{goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext, MaxRetries: -1}), s}, nil
	})
	pause, _ := faults.Find("pause")
	s := &explore.Settings{
		Lock: "naive", Use: lock, On: "sim", Lease: 10 * time.Second, Kinds: []faults.Fault{pause},
		Clients: explore.Exactly(4), Acquires: explore.Exactly(5), Count: explore.AnyCount, Seed: 1, Runs: 200, Jobs: 1,
	}
	start := time.Now()
	r, err := explore.Random(t.Context(), sim, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(start), r.Runs)
	for _, p := range checker.Properties {
		t.Log(p, r.Outcomes[p].Count)
	}
	_ = errors.New
}

func TestStory(t *testing.T) {
	lock := bubble.Lock("naive", catalogue.StoreRedis, 1, 0)
	sim := bubble.Simulator(t, func(s userlock.Site) (userlock.Lock, error) {
		return naive{goredis.NewClient(&goredis.Options{Addr: s.Addrs()[0], Dialer: s.DialContext, MaxRetries: -1}), s}, nil
	})
	pause, _ := faults.Find("pause")
	s := &explore.Settings{
		Lock: "naive", Use: lock, On: "sim", Lease: 10 * time.Second, Kinds: []faults.Fault{pause},
		Clients: explore.Exactly(2), Acquires: explore.Exactly(2), Count: explore.AnyCount, Seed: 1, Runs: 200, Jobs: 1,
	}
	j, _, err := harness.Simulate(sim, s.Plan(0))
	if err != nil {
		t.Fatal(err)
	}
	history.Encode(os.Stdout, j.History)
	for _, v := range j.Verdicts {
		t.Log(v.Property, v.Outcome, v.Reason)
	}
}
