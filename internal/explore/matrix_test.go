package explore

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// defaults returns the settings of the matrix.
func defaults(lease time.Duration, runs int) Settings {
	return Settings{On: "sim", Lease: lease, Seed: 1, Runs: runs, Clients: AnyClients, Acquires: AnyAcquires, Count: AnyCount}
}

func calibrated(t *testing.T) *catalogue.Calibration {
	t.Helper()
	c, err := catalogue.Calibrated()
	must(t, err)
	return &c
}

// cellsOf returns all cells of some locks, with the expectation of like.
func cellsOf(t *testing.T, shared Settings, lock catalogue.Lock, like string) (cells []*Cell) {
	t.Helper()
	calibration := calibrated(t)
	for _, fault := range lock.Columns() {
		c, err := NewCell(shared, lock, like, fault, calibration)
		must(t, err)
		cells = append(cells, c)
	}
	return cells
}

func TestJudgementOfCells(t *testing.T) {
	expect := func(codes ...catalogue.Code) catalogue.Expectation {
		return catalogue.Expectation{Must: codes, May: []checker.Property{checker.Exclusion, checker.LeaseExclusion, checker.Resource, checker.Handover}}
	}
	violated := func(list ...checker.Property) map[checker.Property]checker.Outcome {
		m := map[checker.Property]checker.Outcome{}
		for _, p := range checker.Properties {
			m[p] = checker.Valid
		}
		for _, p := range list {
			m[p] = checker.Violated
		}
		return m
	}
	with := func(m map[checker.Property]checker.Outcome, p checker.Property, out checker.Outcome) map[checker.Property]checker.Outcome {
		m[p] = out
		return m
	}
	for _, tt := range []struct {
		name     string
		must     []catalogue.Code
		outcomes map[checker.Property]checker.Outcome
		grants   int
		touched  int
		cut      bool // interrupted
		timed    bool
		want     Standing
	}{
		{"it holds", nil, violated(), 5, 1, false, false, AsExpected},
		{"a permitted violation is found", nil, violated(checker.Handover), 5, 1, false, false, AsExpected},
		{"something else is found", nil, violated(checker.Ownership), 5, 1, false, false, Unexpected},
		{"all is found", []catalogue.Code{"U"}, violated(checker.Exclusion, checker.LeaseExclusion), 5, 1, false, false, AsExpected},
		{"half of a code is not the code", []catalogue.Code{"U"}, violated(checker.Exclusion), 5, 1, false, false, Missing},
		{"unless the other half does not apply", []catalogue.Code{"U"}, with(violated(checker.Exclusion), checker.LeaseExclusion, checker.NA), 5, 1, false, false, AsExpected},
		{"all and something else", []catalogue.Code{"Uf"}, violated(checker.Exclusion, checker.Liveness), 5, 1, false, false, Unexpected},
		{"something else instead", []catalogue.Code{"U"}, violated(checker.Liveness), 5, 1, false, false, Unexpected},
		{"nothing is found", []catalogue.Code{"U"}, violated(), 5, 1, false, false, Missing},
		{"nothing is found, in too little time", []catalogue.Code{"U"}, violated(), 5, 1, false, true, NotShown},
		{"the fault had no effect", nil, violated(), 5, 0, false, false, Unproven},
		{"the fault had no effect, and a code is missing", []catalogue.Code{"U"}, violated(), 5, 0, false, false, Unproven},
		{"no client got the lock", nil, violated(), 0, 1, false, false, Unproven},
		{"a verdict is unknown", nil, with(violated(), checker.Ownership, checker.Unknown), 5, 1, false, false, Unproven},
		{"interrupted", nil, violated(), 5, 1, true, false, Unproven},
		{"interrupted, but found", nil, violated(checker.Answers), 5, 1, true, false, Unexpected},
	} {
		c := &Cell{Settings: Settings{Runs: 1}, Fault: "pause", Expect: expect(tt.must...), Least: 1}
		if tt.timed {
			c.For = time.Second
		}
		r := NewResult()
		var reached checker.Counts
		reached[checker.Grants], reached[checker.TouchedBy("pause")] = tt.grants, tt.touched
		var verdicts []checker.Verdict
		for _, p := range checker.Properties {
			verdicts = append(verdicts, checker.Verdict{Property: p, Outcome: tt.outcomes[p]})
		}
		r.Count(0, settings("redis-set-lua", "pause", 1).Plan(0), verdicts, reached, &checker.HazardSet{})
		j := c.Judge(r, !tt.cut)
		if j.Standing != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.name, j.Standing, j.Reason, tt.want)
		}
		if (j.Reason == "") != (j.Standing == AsExpected) {
			t.Errorf("%s: the reason is %q", tt.name, j.Reason)
		}
	}
}

// With any number of jobs a matrix has the same runs in every cell, with the same
// results. Under the race detector this is every lock beside others, under a quarter of
// the faults.
func TestJobsDoNotChangeTheMatrix(t *testing.T) {
	var cells []*Cell
	for l, lock := range catalogue.Locks {
		for i, c := range cellsOf(t, defaults(10*time.Second, 2), lock, lock.ID) {
			if alltests.Wanted() || (l+i)%4 == 0 {
				c.Runs, c.Least = 2, 2
				cells = append(cells, c)
			}
		}
	}
	var first []*Result
	for _, jobs := range []int{1, 7} {
		results, whole, err := Matrix(t.Context(), sim.Simulator, cells, jobs, nil)
		must(t, err)
		if slices.Contains(whole, false) {
			t.Errorf("with %d jobs a cell lacks runs", jobs)
		}
		if first == nil {
			first = results
		} else if !reflect.DeepEqual(results, first) {
			t.Errorf("%d jobs have another result than one", jobs)
		}
	}
}

// A cell without expected violations has all its runs. One with expected violations
// goes on until it has shown them all.
func TestWhenACellEnds(t *testing.T) {
	for _, tt := range []struct {
		fault       string
		runs        int
		least, most int
	}{
		{"partition", 200, 200, 200},
		{"pause", 200, 200, 200},    // it must hold in every run
		{"restart-lost", 1, 2, 400}, // its budget does not depend on --runs
	} {
		lock, _ := catalogue.FindLock("redis-set-lua")
		c, err := NewCell(defaults(10*time.Second, tt.runs), lock, lock.ID, tt.fault, calibrated(t))
		must(t, err)
		results, _, err := Matrix(t.Context(), sim.Simulator, []*Cell{c}, 3, nil)
		must(t, err)
		if n := results[0].Runs; n < tt.least || n > tt.most {
			t.Errorf("%s of %d: %d runs", tt.fault, tt.runs, n)
		}
	}
}

// An interrupted matrix returns partial results, and reports which cells are whole.
func TestAnInterruptedMatrix(t *testing.T) {
	lock, _ := catalogue.FindLock("redis-set-lua")
	ctx, cancel := context.WithCancel(t.Context())
	results, whole, err := Matrix(ctx, sim.Simulator, cellsOf(t, defaults(10*time.Second, 1000), lock, lock.ID), 2, func(f Far) {
		if f.Runs > 100 {
			cancel()
		}
	})
	must(t, err)
	runs := 0
	for _, r := range results {
		runs += r.Runs
	}
	if runs < 1 || runs > 1000 || !slices.Contains(whole, false) {
		t.Errorf("%d runs were done, whole %v", runs, whole)
	}
}
