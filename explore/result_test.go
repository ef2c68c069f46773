package explore

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

func settings(lock, fault string, runs int) *Settings {
	s := &Settings{Lock: lock, On: "sim", Lease: 10 * time.Second, Clients: Exactly(3), Acquires: Exactly(6), Count: Exactly(1), Shape: workloads.Usual(10 * time.Second), Runs: runs, Seed: 1}
	if f, ok := faults.Find(fault); ok {
		s.Kinds = []faults.Fault{f}
	}
	return s
}

func random(t *testing.T, s *Settings) *Result {
	t.Helper()
	r, err := Random(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Took = 0
	return r
}

// With any number of jobs a batch finds the same, first runs included.
func TestJobsDoNotChangeTheResult(t *testing.T) {
	one, four := settings("redis-set-del", "pause", 300), settings("redis-set-del", "pause", 300)
	one.Jobs, four.Jobs = 1, 4
	if a, b := random(t, one), random(t, four); !reflect.DeepEqual(a, b) {
		t.Errorf("one job:\n%+v\nfour:\n%+v", a, b)
	}
}

func TestABatchThatReachedNothingIsVacuous(t *testing.T) {
	if why := NewResult().Vacuous(); why == "" {
		t.Error("no run at all proves something")
	}
	r := NewResult()
	plan := settings("redis-set-lua", "pause", 1).Plan(0)
	var reached checker.Counts
	r.Count(0, plan, nil, reached)
	if why := r.Vacuous(); why != "nobody ever got the lock" {
		t.Errorf("vacuous: %q", why)
	}
	reached[checker.Grants] = 5
	r.Count(1, plan, nil, reached)
	if why := r.Vacuous(); why != "pause touched nobody in any run" {
		t.Errorf("vacuous: %q", why)
	}
	reached[checker.FaultTouched] = 1
	r.Count(2, plan, nil, reached)
	if why := r.Vacuous(); why != "" {
		t.Errorf("vacuous: %q", why)
	}
}
