package explore

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/sim"
)

func settings(lock, fault string, runs int) *Settings {
	s := batch(lock, kindsOf(fault))
	s.Clients, s.Acquires, s.Runs, s.Seed = Exactly(3), Exactly(6), runs, 1
	return &s
}

func random(tb testing.TB, s *Settings) *Result {
	tb.Helper()
	r, err := Random(context.Background(), sim.Simulator, s, nil)
	must(tb, err)
	r.Took = 0
	return r
}

// Whole is known without looking at each run.
func TestABatchThatIsOutOfTimeIsNotWhole(t *testing.T) {
	s := settings("redis-set-lua", "none", 5)
	if s.Shard = (Shard{1, 2}); !random(t, s).Whole {
		t.Error("all runs were done, and the batch is not whole")
	}
	s.Runs, s.For = 20_000_000_000, time.Millisecond
	start := time.Now()
	if r := random(t, s); r.Whole || time.Since(start) > 20*time.Second {
		t.Errorf("whole: %v, after %v", r.Whole, time.Since(start))
	}
}

// With any number of jobs a batch has the same result, first runs included.
func TestJobsDoNotChangeTheResult(t *testing.T) {
	one, four := settings("redis-set-del", "pause", 300), settings("redis-set-del", "pause", 300)
	one.Jobs, four.Jobs = 1, 4
	if a, b := random(t, one), random(t, four); !reflect.DeepEqual(a, b) {
		t.Errorf("one job:\n%+v\nfour:\n%+v", a, b)
	}
}

func TestABatchThatReachedNothingIsVacuous(t *testing.T) {
	if why := NewResult().Vacuous(); why == "" {
		t.Error("a batch without runs is not vacuous")
	}
	r := NewResult()
	plan := settings("redis-set-lua", "pause", 1).Plan(0)
	var reached checker.Counts
	r.Count(0, plan, nil, reached, &checker.HazardSet{})
	if why := r.Vacuous(); why != "no client ever got the lock" {
		t.Errorf("vacuous: %q", why)
	}
	reached[checker.Grants] = 5
	r.Count(1, plan, nil, reached, &checker.HazardSet{})
	if why := r.Vacuous(); why != "pause had no effect in any run" {
		t.Errorf("vacuous: %q", why)
	}
	reached[checker.TouchedBy("pause")] = 1
	r.Count(2, plan, nil, reached, &checker.HazardSet{})
	if why := r.Vacuous(); why != "" {
		t.Errorf("vacuous: %q", why)
	}
	// Every kind of fault in one run must have an effect.
	for _, fault := range []string{"kill", "pause", "kill"} {
		plan.Faults = append(plan.Faults, faults.Injection{Fault: fault})
	}
	r.Count(3, plan, nil, reached, &checker.HazardSet{})
	if why := r.Vacuous(); why != "kill had no effect in any run" || r.Drawn["kill"] != 1 || r.Drawn["pause"] != 4 {
		t.Errorf("vacuous: %q, drawn %v", why, r.Drawn)
	}
}

// A server granted the lock to a client that died before its answer came: the run has a
// violation, so it counts. A run without any grant does not.
func TestARunWithAViolationCounts(t *testing.T) {
	t.Parallel()
	plan := settings("redis-setnx-expire", "kill", 1).Plan(0)
	var reached checker.Counts
	reached[checker.TouchedBy("kill")] = 1
	r := NewResult()
	r.Count(0, plan, []checker.Verdict{{Property: checker.Liveness, Outcome: checker.Unknown}}, reached, &checker.HazardSet{})
	if why := r.Vacuous(); r.Empty != 1 || why == "" || r.Outcome(checker.Liveness) != checker.NA {
		t.Errorf("without a grant: %d empty, vacuous %q, liveness %s", r.Empty, why, r.Outcome(checker.Liveness))
	}
	r.Count(1, plan, []checker.Verdict{{Property: checker.Liveness, Outcome: checker.Violated}, {Property: checker.Exclusion, Outcome: checker.Unknown}}, reached, &checker.HazardSet{})
	if why := r.Vacuous(); r.Empty != 1 || why != "" || r.Outcome(checker.Liveness) != checker.Violated || r.Outcome(checker.Exclusion) != checker.NA {
		t.Errorf("with a violation: %d empty, vacuous %q, liveness %s", r.Empty, why, r.Outcome(checker.Liveness))
	}
}
