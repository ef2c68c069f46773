package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The result of a suite stays usable as a baseline, whatever command runs in between.
func TestARunLeavesTheResultOfASuite(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5")...).wants(t, held)
	there(t, filepath.Join("lockcheck-out", results.File), true)
}

// A shard rejects a directory that has its complete result, and does not change it.
func TestACompleteShardIsNotDoneAgain(t *testing.T) {
	file := filepath.Join("lockcheck-out", results.File)
	spread(t, func(begun []string) {
		shard := append(begun, "--shard", "1/2")
		lockcheck(t, shard...)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lockcheck(t, shard...).wants(t, usage, "--out lockcheck-out has the complete result of shard 1/2 already: merge it, or name another directory")
		lockcheck(t, append(shard, "--seed", "7")...).wants(t, usage, "has the complete result of shard 1/2 already")
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Errorf("%s: %v: the result was changed", begun, err)
		}
	})
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	lockcheck(t, "suite", "--shard", "1/2").wants(t, usage, "has the result of lockcheck suite already: name another directory for shard 1/2")
}

// A shard that found a violation before its environment failed is run again. The
// violation and its files remain during every further try and after it.
func TestDoingAShardAgainLosesNoViolation(t *testing.T) {
	t.Chdir(t.TempDir())
	violation := func() string {
		t.Helper()
		d, err := results.Read("lockcheck-out")
		if err != nil || !d.Cells[0].Breaks() {
			t.Fatalf("%v: %+v", err, d)
		}
		return d.Cells[0].Property(checker.Ownership).File
	}
	again := func(e *engine, code int, words ...string) {
		t.Helper()
		args := strings.Fields("run redis-set-del --workload finally --fault none --on docker --promise ownership --seed 1 --runs 3 --shard 1/1")
		e.runs(t, args...).wants(t, code, words...)
	}
	again(&engine{breaks: goneIn(2, 3)}, unavailable)
	first := violation()
	const mine = "the run of the first time"
	if err := os.WriteFile(first, []byte(mine), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again(&engine{gone: exit.Errorf(unavailable, "no engine answers")}, unavailable, "found the violation of ownership in redis-set-del, which counts, too")
		if file := violation(); file != first {
			t.Errorf("it is in %s, and was in %s", file, first)
		}
		lockcheck(t, "merge", "lockcheck-out").wants(t, unavailable, "violated")
	}
	// A kill at this point leaves the violation. The same run gets files of its own.
	again(&engine{seen: func(*harness.Plan) { violation() }}, violated)
	if text, err := os.ReadFile(first); err != nil || string(text) != mine {
		t.Errorf("%v: %s", err, text)
	}
	if file := violation(); filepath.Dir(file) != filepath.Dir(first)+"-2" || !rundir.Exists(file) {
		t.Error(file)
	}
	again(new(engine), usage, "has the complete result of shard 1/1 already")
	lockcheck(t, "merge", "lockcheck-out").wants(t, violated)
}

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

// A suite whose environment is gone keeps its violations, also those of a kept
// counterexample.
func TestASuiteWithoutItsPlaceLosesNoViolation(t *testing.T) {
	for _, past := range []bool{false, true} {
		t.Chdir(t.TempDir())
		file := "locks:\n  - {lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, runs: 3}\n"
		if past {
			file = quick
			keptOnDocker(t, "ownership", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
		}
		r, doc := suiteRun(t, new(engine), file, "--shard", "1/1")
		if r.wants(t, violated); doc == nil {
			t.Fatal(r.stderr)
		}
		doc.Shards.Interrupt()
		if err := results.Write("lockcheck-out", doc); err != nil {
			t.Fatal(err)
		}
		r, doc = suiteRun(t, &engine{gone: exit.Errorf(unavailable, "no engine answers")}, file, "--shard", "1/1")
		r.wants(t, unavailable, "which counts, too")
		if doc == nil || len(doc.Violations) == 0 {
			t.Errorf("past %v: %+v", past, doc)
		}
		lockcheck(t, "merge", "lockcheck-out").wants(t, unavailable, "violated ownership")
	}
}

// The complete shard also has the violations, with files, that only its interrupted try
// found.
func TestACompleteShardHasTheViolationsOfItsFirstTry(t *testing.T) {
	t.Chdir(t.TempDir())
	const what = "run redis-set-lua --no-shrink --fault "
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
