package main

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

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
