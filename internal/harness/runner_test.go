package harness

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/workloads"
)

// caller is a lock that calls the critical section as its field run does.
type caller struct {
	host locks.Host
	run  func(h locks.Host, critical func())
}

func (c caller) Acquire(context.Context, string) (locks.Lease, error) { panic("it is a Runner") }
func (c caller) Close(context.Context) error                          { return nil }
func (c caller) Release(context.Context) error                        { panic("it is a Runner's") }
func (c caller) Run(ctx context.Context, _ string, critical func(context.Context, locks.Lease)) error {
	c.run(c.host, func() { critical(ctx, c) })
	return nil
}

// enterTwice enters again after a second, from another task.
func enterTwice(h locks.Host, critical func()) {
	again := h.Go(func(ctx context.Context) {
		h.Sleep(ctx, time.Second)
		critical()
	})
	critical()
	again.Wait()
}

// enterLate enters only after a minute.
func enterLate(h locks.Host, critical func()) {
	h.Sleep(context.Background(), time.Minute)
	critical()
}

// Every entry of a lock that calls the critical section itself is a grant, also an
// unrequested one, and is judged like any other.
func TestEveryEntryIsAGrant(t *testing.T) {
	scripts := []workloads.Script{
		{Client: "c1", Steps: []workloads.Step{
			{Do: history.Acquire, Limit: 20 * time.Second}, {Do: history.Read}, {Do: history.Write, Wait: 3 * time.Second}, {Do: history.Release},
		}},
		{Client: "c2", Steps: []workloads.Step{{At: 2 * time.Minute}}},
	}
	for name, c := range map[string]struct {
		run       func(locks.Host, func())
		scripts   []workloads.Script
		acquires  int // completed ones
		exclusion checker.Outcome
		resource  checker.Outcome
	}{
		"scripted, twice at a time":          {enterTwice, scripts, 2, checker.Violated, checker.Violated},
		"scripted, after the caller gave up": {enterLate, scripts, 2, checker.Valid, checker.Valid}, // a timeout is a completion
		"at random, twice at a time":         {enterTwice, nil, 20, checker.Violated, checker.Violated},
	} {
		t.Run(name, func(t *testing.T) {
			lock := catalogue.Lock{
				ID: "a test's", Steps: catalogue.Requests{Acquire: 1, Release: 1},
				New: func(e catalogue.Env) locks.Locker { return caller{e.Host, c.run} },
			}
			p := &Plan{
				Lock: lock.ID, On: "sim", Seed: 1, Lease: 10 * time.Second, Clients: []string{"c1", "c2"},
				Acquires: 5, Scripts: c.scripts, Shape: workloads.Shape{Think: time.Second, Hold: 3 * time.Second, Latency: time.Millisecond},
			}
			p.Use(&lock)
			j := simulate(t, p)
			if err := history.Check(j.History); err != nil {
				t.Error(err)
			}
			answers, uncalled, processes := 0, 0, map[int]string{}
			asked := map[int]history.Entry{} // acquires by index
			for _, e := range j.History.Entries {
				switch {
				case e.F != history.Acquire:
				case e.Type == history.Invoke:
					asked[e.Index] = e
				default:
					answers++
					if of := asked[int(e.Op.V)]; e.Op.Set {
						uncalled++
						if of.Client != e.Client || of.Process == e.Process {
							t.Errorf("line %d: %s's grant belongs to the entries of %s's acquire", e.Index, e.Process, of.Process)
						}
					}
				}
				if of, ok := processes[e.Process.N]; ok && of != e.Client && e.Process.Client() {
					t.Errorf("line %d: process %d also belongs to %s", e.Index, e.Process.N, of)
				}
				processes[e.Process.N] = e.Client
			}
			if answers != c.acquires || uncalled != c.acquires/2 {
				t.Errorf("%d acquires ended, %d of them on the entries of another; want %d, and half of them", answers, uncalled, c.acquires)
			}
			for _, v := range j.Verdicts {
				if v.Property == checker.Exclusion && v.Outcome != c.exclusion || v.Property == checker.Resource && v.Outcome != c.resource {
					t.Errorf("%s is %s: %s", v.Property, v.Outcome, v.Reason)
				}
			}
		})
	}
}
