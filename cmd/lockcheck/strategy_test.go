package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// A batch by priorities works like any other: its runs repeat one by one, and kept runs
// can be replayed without knowing the strategy.
func TestABatchByPriorities(t *testing.T) {
	out, again := t.TempDir(), t.TempDir()
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--strategy", "pct", "--depth", "3", "--seed", "1", "--runs", "40", "--keep", "all", "--out", out).
		wants(t, violated, "on sim by pct: 40 runs from seed 1", "VIOLATED exclusion", "Again")
	const name = "redis-set-lua-pause-17"
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--strategy", "pct", "--depth", "3", "--seed", "17", "--runs", "1", "--keep", "all", "--out", again)
	for _, f := range []string{historyFile, scheduleFile, verdictFile, storyFile} {
		one, err1 := os.ReadFile(filepath.Join(out, name, f))
		two, err2 := os.ReadFile(filepath.Join(again, name, f))
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
			t.Errorf("run 16 of the batch and the run of its seed differ in %s (%v, %v)", f, err1, err2)
		}
	}
	plan, err := rundir.ReadPlan(filepath.Join(out, name, scheduleFile))
	if err != nil || plan.Strategy != harness.PCT || plan.Depth != 3 {
		t.Fatalf("the schedule says %q and %d, %v", plan.Strategy, plan.Depth, err)
	}
	lockcheck(t, "replay", filepath.Join(out, name, scheduleFile), "--out", again).wants(t, held, "The history is the same to the byte.")
	edit(t, replaced(" \"strategy\": \"pct\",\n \"depth\": 3,\n", ""), out, name, scheduleFile)
	edit(t, replaced(`"schedule"`, `"was"`), out, name, verdictFile) // otherwise the replay would say that it was edited
	lockcheck(t, "replay", filepath.Join(out, name, scheduleFile), "--out", again).wants(t, held, "The history is the same to the byte.")
}

// The reason why nobody held the lock may have begun before any client asked for it.
func TestAStoryOfAWaitTellsWhatWasDownBefore(t *testing.T) {
	r := lockcheck(t, "run", "zk-recipe", "--fault", "failover,session-expiry", "--promise", "handover", "--seed", "2009327749", "--runs", "1", "--out", t.TempDir())
	r.wants(t, violated, `VIOLATED handover: nobody held "a"`, "zk-3 and zk-1 lost power")
}
