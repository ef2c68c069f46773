package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/results"
)

// What a suite has left can serve as a baseline, whatever is run in between.
func TestARunLeavesTheResultOfASuite(t *testing.T) {
	t.Chdir(t.TempDir())
	suiteRun(t, new(engine), quick)
	lockcheck(t, strings.Fields("run redis-set-lua --fault none --runs 5")...).wants(t, held)
	there(t, filepath.Join("lockcheck-out", results.File), true)
}

// A shard that found something before its place failed is done again: what it
// found is merged, with its files, as often as that happens.
// A suite, too, whose place is gone, be it that of a counterexample of the past.
func TestASuiteWithoutItsPlaceLosesNoViolation(t *testing.T) {
	for _, past := range []bool{false, true} {
		t.Chdir(t.TempDir())
		file := "locks:\n  - {lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, runs: 2}\n"
		if past {
			file = quick
			keptOnDocker(t, "ownership", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
		}
		shard := func(e *engine, code int) {
			r, _ := suiteRun(t, e, file, "--shard", "1/1")
			r.wants(t, code)
		}
		shard(new(engine), violated)
		shard(&engine{gone: fail(noPlace, "no engine answers")}, noPlace)
		doc, err := results.Read(filepath.Join("lockcheck-out", earlierDir))
		if err != nil || len(doc.Violations) == 0 {
			t.Errorf("past %v: %v: %+v", past, err, doc)
		}
		lockcheck(t, "merge", "lockcheck-out").wants(t, violated)
	}
}

func TestTryingAShardAgainLosesNoViolation(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("run redis-set-del --workload finally --fault none --on docker --promise ownership --seed 1 --runs 3 --shard 1/1")
	again := func(e *engine, code int) { e.runs(t, args...).wants(t, code) }
	again(&engine{breaks: goneIn(2, 3)}, noPlace)
	again(&engine{breaks: goneIn(1)}, noPlace)
	for _, dir := range []string{"earlier", "earlier-2"} {
		again(&engine{breaks: goneIn(1, 2)}, noPlace) // nothing is found
		doc, err := results.Read(filepath.Join("lockcheck-out", dir))
		if err != nil || len(doc.Violations) == 0 {
			t.Fatalf("%s: %v: %+v", dir, err, doc)
		}
		there(t, doc.Violations[0].File, true)
		lockcheck(t, "merge", "lockcheck-out").wants(t, noPlace, "violated")
	}
}
