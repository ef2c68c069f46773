package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Only a result of the same command replaces a result, and only the same shard replaces
// that of a shard.
func TestNoResultTakesThePlaceOfAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lockcheck.yaml", []byte(spreadSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	sharded(t, "s", "run redis-set-lua --fault none --runs 10", held, held, held)
	for _, tt := range []struct{ args, says string }{
		{"merge s/1 s/2 --out s/3", "--out s/3 holds shard 3 of 3 itself"},
		{"suite --shard 3/3 --out s/3", "--out s/3 has the result of lockcheck run already"},
		{"suite --out s/3", "--out s/3 has the result of lockcheck run already"},
		{"matrix redis-set-lua --fault none --runs 5 --shard 3/3 --out s/3", "--out s/3 has the result of lockcheck run already"},
	} {
		lockcheck(t, strings.Fields(tt.args)...).wants(t, usage, tt.says)
	}
	suiteRun(t, new(engine), quick)
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 10 --shard 1/2")...).wants(t, usage, "has the result of lockcheck suite already")
	lockcheck(t, "merge", "s").wants(t, held)
}

// A shard whose environment cannot be set up has the same cells as the others, and the
// merged result reports the trouble.
func TestAShardWithoutAPlaceIsMerged(t *testing.T) {
	nowhere := &engine{gone: exit.Errorf(unavailable, "no engine answers")}
	for _, args := range []string{
		"run redis-set-* zk-recipe --fault server-rate,session-expiry --runs 4 --on docker",
		"matrix redis-set-lua --fault none,pause --for 1ms --on docker",
	} {
		t.Chdir(t.TempDir())
		for i, e := range []*engine{new(engine), nowhere} {
			n := string(rune('1' + i))
			r := e.runs(t, append(strings.Fields(args), "--shard", n+"/2", "--out", filepath.Join("s", n))...)
			if e == nowhere {
				r.wants(t, unavailable, "no engine answers")
			} else if r.code > unproven {
				t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		}
		lockcheck(t, "merge", "s").wants(t, unavailable, "no engine answers")
	}
}

// Each misuse of a lock in a matrix has files of its own, also after merging.
func TestTheFilesOfAMatrixAreThoseOfTheirCells(t *testing.T) {
	t.Chdir(t.TempDir())
	const what = "matrix mysql-fair --fault none --runs 8 --shrink"
	sharded(t, "s", what, held, held)
	for _, args := range []string{what, "merge s --out merged"} {
		r := lockcheck(t, append(strings.Fields(args), "--json")...)
		r.wants(t, held)
		var doc results.MatrixDocument
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		of := func(c *results.MatrixCellDocument) string { return c.Lock + " " + cmp.Or(c.Workload, c.Fault) }
		for _, c := range doc.Cells {
			if c.File == "" {
				continue
			}
			for _, file := range []string{c.File, c.Shrunk} {
				if other, twice := files[file]; twice {
					t.Errorf("%s: %s is of %s and of %s", args, file, other, of(&c))
				}
				files[file] = of(&c)
				plan, err := rundir.ReadPlan(file)
				if err != nil {
					t.Fatal(err)
				}
				if c.Workload != "" && plan.Workload != c.Workload {
					t.Errorf("%s: %s has the workload %q, and is of %s", args, file, plan.Workload, of(&c))
				}
			}
		}
		if len(files) < 4 {
			t.Errorf("%s: only %d files", args, len(files))
		}
	}
}

// Test results of other tools are not overwritten.
func TestTheTestResultsOfOthersStay(t *testing.T) {
	t.Chdir(t.TempDir())
	const others = `<?xml version="1.0"?><testsuites><testsuite name="pytest"/></testsuites>`
	if err := os.WriteFile("j.xml", []byte(others), 0o666); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5 --junit j.xml")...).wants(t, usage, "cannot write --junit j.xml")
	if text, err := os.ReadFile("j.xml"); err != nil || string(text) != others {
		t.Errorf("%v: %s", err, text)
	}
}

// A single shard of one that was interrupted is reported like one of several.
func TestTheOnlyShardThatWasInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("run redis-set-lua --fault none --on docker --seed 1 --runs 5 --shard 1/1")
	interruptedEngine(t, 3).runs(t, args...).wants(t, interrupted)
	lockcheck(t, "merge", "lockcheck-out").wants(t, unproven, "Cut      shard 1")
}
