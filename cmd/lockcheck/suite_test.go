package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// On systems that ignore case, such as macOS and Windows, two names that differ only in
// case are the same directory.
func TestADirectoryIsUniqueWhateverTheCaseOfItsLetters(t *testing.T) {
	taken := map[string]bool{}
	for _, tt := range []struct{ base, want string }{{"Mine", "Mine"}, {"mine", "mine-2"}, {"MINE", "MINE-3"}, {"Mine-2", "Mine-2-2"}, {"yours", "yours"}} {
		if got := rundir.Unique(taken, tt.base); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.base, got, tt.want)
		}
	}
}

// A killed suite leaves no older result.
func TestARestartedSuiteBeginsWithoutAResult(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	there := true
	e := &engine{seen: func(*harness.Plan) {
		_, err := os.Stat(filepath.Join("lockcheck-out", results.File))
		there = err == nil
	}}
	suiteRun(t, e, real)
	if there {
		t.Error("the result of an earlier time is there while a suite runs")
	}
}

// Neither can the name of a suite's entry.
func TestTheDirectoryOfARunHasOnePart(t *testing.T) {
	for _, lock := range []string{"../../x", "our lock/v2", `..\x`} {
		if name := rundir.Name(&harness.Plan{Lock: lock, Seed: 1}); !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			t.Errorf("%q: %q", lock, name)
		}
	}
}
