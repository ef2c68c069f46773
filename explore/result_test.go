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

// Each flawed lock is found out under some fault, and none without one.
func TestFlawedLocksAreFoundOut(t *testing.T) {
	for _, tt := range []struct {
		lock, fault string
		property    checker.Property
	}{
		{"redis-setnx", "kill", checker.Liveness},
		{"redis-setnx", "restart-lost", checker.Exclusion},
		{"redis-setnx-expire", "kill", checker.Liveness},
		{"redis-set-del", "pause", checker.Ownership},
		{"redis-set-del", "pause", checker.LeaseExclusion},
		{"redis-set-get-del", "pause", checker.Ownership},
		{"redis-set-get-del", "pause", checker.LeaseExclusion},
		{"redis-set-lua", "pause", checker.Exclusion},
		{"redis-set-lua", "pause", checker.Resource},
		{"redis-set-lua", "server-jump", checker.LeaseExclusion},
		{"redis-set-lua", "restart-lost", checker.LeaseExclusion},
		{"redis-set-lua", "drop-reply", checker.Handover},
	} {
		s := settings(tt.lock, tt.fault, 500)
		s.Clients, s.Acquires = Exactly(5), Exactly(20)
		if r := random(t, s); r.Outcome(tt.property) != checker.Violated {
			t.Errorf("%s under %s: %s is %s in %d runs", tt.lock, tt.fault, tt.property, r.Outcome(tt.property), r.Runs)
		}
	}
	for _, lock := range []string{"redis-setnx", "redis-setnx-expire", "redis-set-del", "redis-set-get-del", "redis-set-lua"} {
		r := random(t, settings(lock, "none", 500))
		for _, p := range checker.Properties {
			if r.Outcome(p) == checker.Violated || r.Outcome(p) == checker.Unknown {
				t.Errorf("%s without a fault: %s is %s", lock, p, r.Outcome(p))
			}
		}
	}
}

// What must hold holds: a release that compares never takes another's lock.
func TestWhatMustHoldHolds(t *testing.T) {
	for _, tt := range []struct {
		lock, fault string
		properties  []checker.Property
	}{
		{"redis-setnx", "pause", []checker.Property{checker.Exclusion, checker.Ownership, checker.Resource, checker.Answers, checker.Liveness}},
		{"redis-set-lua", "pause", []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.Answers, checker.Liveness}},
		{"redis-set-lua", "restart", []checker.Property{checker.Exclusion, checker.Ownership, checker.Answers, checker.Liveness}},
		{"redis-set-lua", "kill", []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Resource, checker.Answers, checker.Liveness}},
		{"redis-set-lua", "drop-reply", []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.Answers, checker.Liveness}},
		{"redis-set-lua", "kill-connection", []checker.Property{checker.LeaseExclusion, checker.Ownership, checker.Answers, checker.Liveness}},
	} {
		r := random(t, settings(tt.lock, tt.fault, 1000))
		for _, p := range tt.properties {
			if r.Outcome(p) != checker.Valid {
				t.Errorf("%s under %s: %s is %s, first in run %d", tt.lock, tt.fault, p, r.Outcome(p), r.Outcomes[p].First[checker.Violated])
			}
		}
		if why := r.Vacuous(); why != "" {
			t.Errorf("%s under %s proves nothing: %s", tt.lock, tt.fault, why)
		}
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
