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

	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

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
