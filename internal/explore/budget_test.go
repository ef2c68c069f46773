package explore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/locks"
)

// spinningLock is a lock whose acquire loops without a wait from the third call on.
type spinningLock struct {
	*fischer
	asked int
}

func (l *spinningLock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	for l.asked++; l.asked > 2; {
		l.host.Sleep(ctx, 0)
	}
	return l.fischer.Acquire(ctx, name)
}

// The budget ends a run that loops without a wait, always at the same event. Nothing in
// it is valid, and the reason names the client.
func TestALoopWithoutAWaitIsUnknown(t *testing.T) {
	settings := func() *Settings {
		return &Settings{
			Lock: "spinning", On: "sim", Lease: 10 * time.Second, Clients: Exactly(2), Acquires: Exactly(5), Runs: 3, Seed: 1, Jobs: 1,
			Use: &catalogue.Lock{ID: "spinning", Steps: catalogue.Requests{Acquire: 3, Release: 1}, Lease: catalogue.LeaseNone, New: func(e catalogue.Env) locks.Locker {
				return &spinningLock{fischer: &fischer{e.Host, e.Redis[0], 1}}
			}},
		}
	}
	r, err := Random(t.Context(), sim.Simulator, settings(), nil)
	if err != nil || r.Runs != 3 {
		t.Fatalf("%d runs, %v", r.Runs, err)
	}
	for _, p := range checker.Properties {
		if out := r.Outcome(p); out == checker.Valid {
			t.Errorf("%s is valid", p)
		}
	}
	plan := settings().Plan(0)
	first := simulate(t, plan)
	for _, v := range first.Verdicts {
		if v.Outcome == checker.Unknown && (!strings.Contains(v.Reason, "is there a loop without a wait?") || !strings.Contains(v.Reason, ": c")) {
			t.Errorf("%s: %s", v.Property, v.Reason)
		}
	}
	again, fit, err := harness.Simulate(sim.Simulator, plan)
	if err != nil || fit != (harness.Replay{}) || len(again.History.Entries) != len(first.History.Entries) {
		t.Errorf("replayed: %v, %+v, %d lines and %d before", err, fit, len(again.History.Entries), len(first.History.Entries))
	}
}

// Shrinking keeps to its budget within a run, and between the choices that it halves.
func TestShrinkingEndsWithinARun(t *testing.T) {
	j := violation(t, underFault("redis-set-lua", "pause", 1), checker.Exclusion)
	const budget = 500
	s := newShrinker(t.Context(), sim.Simulator, j, checker.Exclusion, budget)
	defer s.buffer.Close()
	c := newCandidate(clone(j.Plan), j.History, j.Verdicts)
	if s.zeroes(c); s.events > budget+2*startEvents+1 {
		t.Errorf("it took %d events of %d", s.events, budget)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = &shrinker{buffer: s.buffer, ctx: ctx, property: checker.Exclusion, mechanism: s.mechanism, budget: ShrinkBudget}
	if s.zeroes(c); s.replays != 0 {
		t.Errorf("%d replays after the end", s.replays)
	}
	// It does not try the choices of a long run one by one, either.
	for n := range 2000 {
		c.plan.Choices = append(c.plan.Choices, env.Choice{Name: env.Name{What: "latency", N: -n}, Value: 100})
	}
	if n := testing.AllocsPerRun(1, func() { s.zeroes(c) }); n > 500 {
		t.Errorf("%.0f allocations for %d choices after the end", n, len(c.plan.Choices))
	}
}
