package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

func TestARunThatThePlaceFailedIsTriedAgainOnce(t *testing.T) {
	kept := []string{"--fault", "none", "--on", "docker", "--seed", "1"}
	for _, tt := range []struct {
		name    string
		args    []string
		breaks  []int
		code    int
		calls   int
		retried int
		runs    int
	}{
		{"it works", []string{"redis-set-lua", "--runs", "3"}, nil, held, 3, 0, 3},
		{"once", []string{"redis-set-lua", "--runs", "3"}, []int{2}, held, 4, 1, 3},
		{"once in each of two runs", []string{"redis-set-lua", "--runs", "3"}, []int{1, 3}, held, 5, 2, 3},
		{"twice in one run", []string{"redis-set-lua", "--runs", "3"}, []int{2, 3}, unavailable, 3, 1, 1},
		{"a violation is no trouble", []string{"redis-set-del", "--workload", "finally", "--runs", "1"}, nil, violated, 1, 0, 1},
		{"nor in a run that ended early", []string{"redis-set-del", "--workload", "finally", "--runs", "3"}, []int{1}, unavailable, 1, 0, 1},
	} {
		e := &engine{breaks: goneIn(tt.breaks...)}
		args := append(append([]string{"run"}, tt.args...), kept...)
		r := e.runs(t, append(args, "--json", "--out", t.TempDir())...)
		var doc results.Document
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatalf("%s: %v\n%s%s", tt.name, err, r.stdout, r.stderr)
		}
		if r.code != tt.code || e.calls != tt.calls || doc.Retried != tt.retried || doc.Runs != tt.runs || doc.ExitCode != r.code {
			t.Errorf("%s: exit code %d, %d calls, %d retried, %d runs; want %+v\n%s", tt.name, r.code, e.calls, doc.Retried, doc.Runs, tt, r.stderr)
		}
		if said := strings.Count(r.stderr, "is tried again, as the place failed: the engine is gone"); said != tt.retried {
			t.Errorf("%s: it is said %d times\n%s", tt.name, said, r.stderr)
		}
	}
}

// The same is true of a run of a case, which has several runs in parallel.
func TestACaseThatThePlaceFailedIsTriedAgainOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		breaks []int
		code   int
		calls  int
		again  int
	}{
		{"it works", []string{"redlock-gc-during-acquire"}, nil, held, 2, 0},
		{"one of its runs", []string{"redlock-gc-during-acquire"}, []int{1}, held, 3, 1},
		{"both", []string{"redlock-gc-during-acquire"}, []int{1, 2}, held, 4, 2},
		{"twice", []string{"redlock-gc-during-acquire"}, []int{1, 3}, unavailable, 3, 1},
		{"all, one of them after a violation", []string{"redis-get-del-race"}, []int{1, 2, 3}, held, 6, 3},
		{"changed", []string{"redis-get-del-race", "--lock", "redis-set-lua"}, []int{1}, held, 2, 1},
		{"changed, twice", []string{"redis-get-del-race", "--lock", "redis-set-lua"}, []int{1, 2}, unavailable, 2, 1},
		{"changed, a violation", []string{"redis-get-del-race", "--lock", "redis-set-del"}, []int{1}, unavailable, 1, 0},
	} {
		e := &engine{breaks: goneIn(tt.breaks...)}
		r := e.runs(t, append([]string{"case", "--on", "docker", "--out", t.TempDir()}, tt.args...)...)
		if said := strings.Count(r.stderr, "is tried again, as the place failed: the engine is gone"); r.code != tt.code || e.calls != tt.calls || said != tt.again {
			t.Errorf("%s: exit code %d, %d calls, %d again; want %+v\n%s%s", tt.name, r.code, e.calls, said, tt, r.stdout, r.stderr)
		}
	}
}

// A machine that is too slow for a lease of a second may be fast enough for a longer
// one. An unexpected event has nothing to do with speed, and is not retried.
func TestACaseThatDoesNotComeAboutIsPlayedWithALongerLease(t *testing.T) {
	idle := func(below time.Duration) func(*harness.Plan) { // no fault strikes
		return func(plan *harness.Plan) {
			if plan.Lease < below {
				plan.Faults = nil
			}
		}
	}
	flawed := func(plan *harness.Plan) { plan.Lock = "redis-set-get-del" }
	for _, tt := range []struct {
		name   string
		seen   func(*harness.Plan)
		code   int
		leases []time.Duration
	}{
		{"at once", nil, held, []time.Duration{time.Second}},
		{"with a longer lease", idle(2 * time.Second), held, []time.Duration{time.Second, 2 * time.Second}},
		{"never", idle(time.Minute), violated, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second}},
		{"the remedy breaks", flawed, violated, []time.Duration{time.Second}},
	} {
		var leases []time.Duration
		e := new(engine)
		e.seen = func(plan *harness.Plan) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if !slices.Contains(leases, plan.Lease) {
				leases = append(leases, plan.Lease)
			}
			if tt.seen != nil {
				tt.seen(plan)
			}
		}
		r := e.runs(t, "case", "redis-get-del-race", "--on", "docker", "--json", "--out", t.TempDir())
		var doc cases.Document
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatalf("%s: %v\n%s%s", tt.name, err, r.stdout, r.stderr)
		}
		c, last := doc.Cases[0], tt.leases[len(tt.leases)-1]
		if r.code != tt.code || !slices.Equal(leases, tt.leases) || c.Tries != len(tt.leases) || len(c.Again) != c.Tries-1 || c.LeaseMS != last.Milliseconds() {
			t.Errorf("%s: exit code %d, leases %v, %+v; want %+v\n%s", tt.name, r.code, leases, c, tt, r.stderr)
		}
	}
}

func TestARunWhosePlaceCannotBeRemovedCounts(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want results.Verdict
	}{
		{[]string{"redis-set-lua", "--promise", "exclusion"}, results.Unavailable},
		{[]string{"redis-set-del", "--workload", "finally", "--promise", "ownership"}, results.Violated},
	} {
		e := &engine{breaks: unremoved}
		args := append([]string{"run"}, tt.args...)
		r := e.runs(t, append(args, "--fault", "none", "--on", "docker", "--seed", "1", "--runs", "3", "--json", "--out", t.TempDir())...)
		r.wants(t, unavailable, "it does not go")
		var doc results.Document
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatal(err)
		}
		if c := doc.Cells[0]; c.Verdict != tt.want || e.calls != 1 || doc.Retried != 0 || doc.Runs != 1 {
			t.Errorf("%q: %s after %d calls, %d retried, %d runs", tt.args, c.Verdict, e.calls, doc.Retried, doc.Runs)
		}
		for _, p := range doc.Cells[0].Properties {
			if p.Property == checker.Liveness && p.Outcome != checker.Valid.String() {
				t.Errorf("%q: liveness is %s", tt.args, p.Outcome)
			}
		}
		if strings.Contains(r.stderr, "ended early") {
			t.Errorf("it is told as one that ended early:\n%s", r.stderr)
		}
	}
}

// A replay also counts if its environment fails only after its end.
func TestAReplayWhosePlaceCannotBeRemovedCounts(t *testing.T) {
	for promise, want := range map[string]results.Verdict{"liveness": results.Unavailable, "ownership": results.Violated} {
		t.Chdir(t.TempDir())
		keptOnDocker(t, promise, "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
		e := &engine{breaks: unremoved}
		r := e.runs(t, "replay", regressionsDir, "--out", t.TempDir())
		r.wants(t, unavailable, "liveness         valid", "ownership        VIOLATED", "it does not go")
		if strings.Contains(r.stdout, "did not come to its end") {
			t.Errorf("it is told as one that ended early:\n%s", r.stdout)
		}
		e = &engine{breaks: unremoved}
		_, doc := suiteRun(t, e, quick)
		if c := doc.Cells[0]; c.Verdict != want || e.calls != 1 || doc.Retried != 0 {
			t.Errorf("%s: %s after %d calls, %d retried", promise, c.Verdict, e.calls, doc.Retried)
		}
	}
}

// A violation counts, and the result also says that not all runs could be done.
func TestAViolationBeforeThePlaceFailedIsShownWithIt(t *testing.T) {
	args := []string{"run", "redis-set-del", "--workload", "finally", "--fault", "none", "--on", "docker", "--seed", "1", "--runs", "3"}
	e := &engine{breaks: goneIn(1)}
	r := e.runs(t, append(args, "--out", t.TempDir())...)
	r.wants(t, unavailable, "VIOLATED", "✗ ownership        violated  in 1 run, first with seed 1", "Place    it failed, so that not all could be done: the engine is gone", "the engine is gone")
	// The environment may be the reason for a wait: it proves nothing, and the run is
	// tried again.
	e = &engine{breaks: goneIn(1)}
	r = e.runs(t, append(args, "--promise", "liveness", "--out", t.TempDir())...)
	if r.code != held || e.calls != 4 {
		t.Errorf("exit code %d after %d calls\n%s", r.code, e.calls, r.stdout)
	}
}

// An interrupted run counts only if it shows a violation that needs no end of the run.
func TestAnInterruptedRunCountsOnlyIfItConvicts(t *testing.T) {
	for _, tt := range []struct {
		name, lock, workload, promise string
		runs                          int
		verdict                       results.Verdict
	}{
		{"it has broken a promise", "redis-set-del", "finally", "ownership", 2, results.Violated},
		{"it has broken another", "redis-set-del", "finally", "liveness", 1, results.Held},
		{"it has not", "redis-set-lua", "usual", "exclusion", 1, results.Held},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		e := &engine{ctx: ctx}
		e.breaks = func(call int) error {
			if call < 2 {
				return nil
			}
			cancel()
			return ctx.Err()
		}
		if tt.verdict == results.Violated {
			e.breaks = func(int) error { cancel(); return ctx.Err() }
			tt.runs = 1
		}
		r := e.runs(t, "run", tt.lock, "--workload", tt.workload, "--promise", tt.promise, "--fault", "none", "--on", "docker",
			"--seed", "1", "--runs", "5", "--json", "--out", t.TempDir())
		var doc results.Document
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatalf("%s: %v\n%s", tt.name, err, r.stderr)
		}
		c := doc.Cells[0]
		if r.code != interrupted || c.Runs != tt.runs || c.Verdict != tt.verdict || c.Cut != "interrupted" {
			t.Errorf("%s: exit code %d, %+v", tt.name, r.code, c)
		}
	}
}

// A cell that has not done all its runs says so, whatever set the limit.
func TestARunThatTimeEndsSaysSo(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		cut  string
	}{
		{"time is over", []string{"--runs", "1000000", "--for", "500ms"}, batch.TimeOver},
		{"all are done", []string{"--runs", "3", "--for", "1h"}, ""},
		{"a shard has done all that are its own", []string{"--runs", "30", "--shard", "1/3", "--for", "1h"}, ""},
		{"as many as there is time for", []string{"--for", "500ms"}, ""},
		{"but others have another machine", []string{"--for", "500ms", "--shard", "1/2"}, batch.TimeOver},
	} {
		args := append([]string{"run", "redis-set-lua", "--fault", "none", "--seed", "1"}, tt.args...)
		var doc results.Document
		r := lockcheck(t, append(args, "--json", "--out", t.TempDir())...)
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Cells[0].Cut != tt.cut {
			t.Errorf("%s: cut is %q, %v", tt.name, doc.Cells[0].Cut, err)
		}
		r = lockcheck(t, append(args, "--out", t.TempDir())...)
		if got := strings.Contains(r.stdout, "Cut      time was over: these are not all runs"); got != (tt.cut != "") {
			t.Errorf("%s:\n%s", tt.name, r.stdout)
		}
	}
}

// Runs in real time need much memory: a batch keeps only those whose story is told.
func TestOnlyTheRunsThatAreToldStayInMemory(t *testing.T) {
	e := new(engine)
	out := t.TempDir()
	p := e.runner(t.Context(), newApp(strings.NewReader(""), io.Discard, io.Discard))
	finally, _ := workloads.Find("finally")
	s := explore.Settings{
		Lock: "redis-set-del", On: "docker", Lease: time.Second, Seed: 1,
		Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount,
		Workloads: []workloads.Workload{finally},
	}
	s.Usual(time.Second)
	for s.Runs = 1; s.Runs <= 6; s.Runs++ { // in the way a suite runs them
		if _, err := p.Batch(&s, nil); err != nil {
			t.Fatal(err)
		}
		s.From = s.Runs
	}
	stay := 0
	for i := range 6 {
		if j, _ := p.Again(p, &s, i); j != nil {
			stay++
		}
	}
	if stay == 0 || stay > 3 {
		t.Errorf("%d of 6 runs stay", stay)
	}
	e.seen = func(plan *harness.Plan) { // on docker the files of a run are written during the run
		f, err := rundir.Begin(filepath.Join(out, rundir.Name(plan)), plan)
		if err = cmp.Or(err, f.Close()); err != nil {
			t.Error(err)
		}
	}
	r := e.runs(t, "run", "redis-set-lua", "--fault", "none", "--on", "docker", "--seed", "1", "--runs", "4", "--keep", "all", "-v", "--out", out)
	r.wants(t, held, "redis-set-lua-none-4")
}

func TestWhatARunHasFoundOutlastsItsPlace(t *testing.T) {
	e := &engine{breaks: goneIn(3, 4)}
	e.runs(t, "run", "redis-set-lua", "--fault", "none", "--on", "docker", "--seed", "1", "--runs", "5", "--out", t.TempDir()).
		wants(t, unavailable, "redis-set-lua on docker: 2 runs", "the engine is gone")
}
