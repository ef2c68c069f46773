package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// A baseline recognises an entry by its settings, not by its name alone.
func TestABaselineHidesNoOtherEntryOfThatName(t *testing.T) {
	const entry = "runs: 60\nlocks:\n  - {name: prod, lock: redis-set-del, faults: pause, promises: ownership}\n"
	for _, tt := range []struct {
		name, from, to string
		code           int
	}{
		{"the same", "", "", held},
		{"more runs", "runs: 60", "runs: 90", held},
		{"a promise more", "ownership}", "[ownership, liveness]}", held},
		{"what is usual written out", "faults:", "on: sim, lease: 10s, strategy: random, workloads: usual, faults:", held},
		{"another lock", "redis-set-del,", "redis-set-get-del, runs: 3000,", violated},
		{"clients", "faults:", "clients: 3, faults:", violated},
		{"a lease", "faults:", "lease: 5s, faults:", violated},
		{"options", "faults:", "options: token, faults:", violated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			before, _ := suiteRun(t, new(engine), entry)
			before.wants(t, violated)
			if err := os.Rename(filepath.Join("lockcheck-out", results.File), "known.json"); err != nil {
				t.Fatal(err)
			}
			if tt.code == violated {
				if err := os.RemoveAll(regressionsDir); err != nil {
					t.Fatal(err)
				}
			}
			r, _ := suiteRun(t, new(engine), strings.Replace(entry, tt.from, tt.to, 1), "--baseline", "known.json")
			if r.wants(t, tt.code); tt.code == violated && !strings.Contains(strings.Join(strings.Fields(r.stdout), " "), "its cell has another lock or other settings now") {
				t.Errorf("it is not said why:\n%s", r.stdout)
			}
		})
	}
}
