package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The result of a try of another exploration, or one without a violation, is removed
// before the first run.
func TestAnotherTryIsRemovedBeforeTheFirstRun(t *testing.T) {
	const holds, breaks = "run redis-set-lua", "run redis-set-del --workload finally --promise ownership"
	const what = " --fault none --on docker --seed 1 --shard 1/1 --runs "
	for _, tt := range []struct{ was, now string }{{holds + what + "5", holds + what + "5"}, {breaks + what + "5", holds + what + "4"}} {
		t.Chdir(t.TempDir())
		interruptedEngine(t, 3).runs(t, strings.Fields(tt.was)...).wants(t, interrupted)
		file := filepath.Join("lockcheck-out", results.File)
		there(t, file, true)
		e := &engine{seen: func(*harness.Plan) { there(t, file, false) }}
		e.runs(t, strings.Fields(tt.now)...).wants(t, held)
	}
}

// The complete shard also has the violations, with files, that only its interrupted try
// found.
func TestACompleteShardHasTheViolationsOfItsFirstTry(t *testing.T) {
	t.Chdir(t.TempDir())
	const what = "run redis-set-lua --no-shrink --promise all --fault "
	lockcheck(t, strings.Fields(what+"pause --seed 1 --runs 20 --shard 1/1 --out v")...).wants(t, violated)
	try := strings.Fields(what + "none --runs 5 --seed 1 --shard 1/1 --out s/1")
	lockcheck(t, try...).wants(t, held)
	fine, err := results.Read("s/1")
	if err != nil {
		t.Fatal(err)
	}
	broken, err := results.Read("v")
	if err != nil {
		t.Fatal(err)
	}
	broken.Head = fine.Head
	broken.Shards.Interrupt()
	broken.Decide()
	if err := results.Write("s/1", broken); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, append(try, "--json")...)
	r.wants(t, violated, "found the violation of exclusion in redis-set-lua")
	doc := document(t, r)
	if doc.Partial() || doc.Runs != 20 || len(doc.Violations) != len(broken.Violations) {
		t.Errorf("%+v", doc)
	}
	for _, v := range doc.Violations {
		if !rundir.Exists(v.File) || !strings.Contains(v.Replay, filepath.Dir(v.File)) {
			t.Errorf("%+v", v)
		}
	}
	lockcheck(t, "merge", "s").wants(t, violated, "VIOLATED exclusion")
}

// The same is true of unexpected violations in a matrix.
func TestAMatrixHasTheViolationsOfItsFirstTry(t *testing.T) {
	t.Chdir(t.TempDir())
	sharded(t, "s", "matrix redis-set-lua --fault none --runs 20", held)
	d, err := results.Read("s/1")
	if err != nil {
		t.Fatal(err)
	}
	c := &d.Cells[0]
	c.Expected.Standing, c.Expected.Unexpected = explore.Unexpected, []checker.Property{checker.Ownership}
	c.Property(checker.Ownership).Runs = map[string]results.Tally{"violated": {Count: 1, Seed: 1}}
	d.Matrix.Trouble = "the server is gone"
	d.Decide()
	if err := results.Write("s/1", d); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "merge", "s").wants(t, unavailable)
	sharded(t, "s", "matrix redis-set-lua --fault none --runs 20", violated)
	lockcheck(t, "merge", "s").wants(t, violated, "ownership violated, which is not expected")
	lockcheck(t, strings.Fields("matrix redis-set-lua --fault none --runs 20 --shard 1/1 --out s/1")...).wants(t, usage, "has the complete result of shard 1/1 already")
}
