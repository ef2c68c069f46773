package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// spreadSuite has a lock that breaks its promise, one that keeps it, and a kept
// counterexample.
const spreadSuite = `lockcheck: 1
runs: 40
locks:
  - lock: redis-set-lua
    faults: [pause, none]
    promises: [exclusion]
  - lock: redis-set-del
    faults: [kill]
    promises: [liveness]
`

// The merged shards of a suite equal the result of one machine, including the kept
// counterexamples. One shard replays each of them.
func TestShardsOfASuiteComeToTheSameAsOneMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte(spreadSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "20", "--promise", "exclusion", "--out", "regressions").wants(t, violated)
	sharded(t, "s", "suite", violated, violated, violated)
	replayed := 0
	for _, n := range []string{"1", "2", "3"} {
		d, err := results.Read(filepath.Join("s", n))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Cells {
			if c.Kept && c.Runs > 0 {
				replayed++
			}
		}
	}
	whole := lockcheck(t, "suite", "--out", "one", "--json")
	whole.wants(t, violated)
	for _, args := range [][]string{{"merge", "s", "--json"}, {"merge", "s", "--json", "--out", "merged"}, {"merge", "merged", "--json"}} {
		r := lockcheck(t, args...)
		r.wants(t, violated)
		if a, b := essence(t, r.stdout), essence(t, whole.stdout); a != b {
			t.Fatalf("%v:\n%s\nalone:\n%s", args, a, b)
		}
	}
	alone, err := results.Read("one")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range alone.Cells {
		if c.Kept {
			replayed--
		}
	}
	if replayed != 0 || !alone.Cells[0].Kept {
		t.Errorf("of the counterexamples of the past %d too many were replayed", replayed)
	}
	lockcheck(t, "merge", "merged").wants(t, violated, "violated exclusion", "Joined   shards 1, 2, 3 of 3")
	// Known violations do not fail merge either.
	lockcheck(t, "merge", "s", "--baseline", "one/result.json", "--junit", "junit.xml").wants(t, held, "known")
	if _, err := os.Stat("junit.xml"); err != nil {
		t.Error(err)
	}
}
