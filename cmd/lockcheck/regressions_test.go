package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// take moves the results of a suite to another directory.
func take(t *testing.T, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join("lockcheck-out", results.File), to); err != nil {
		t.Fatal(err)
	}
}

// Two entries of one lock under one fault are different locks for a baseline: a
// violation of one says nothing about the other.
func TestWhatOneEntryBreaksIsNotKnownThroughAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	const legacy = "runs: 60\nlocks:\n  - {name: legacy, lock: redis-set-del, faults: pause, promises: ownership}\n"
	suiteRun(t, new(engine), legacy)
	take(t, "known.json")
	if err := os.RemoveAll(regressionsDir); err != nil {
		t.Fatal(err)
	}
	const both = "baseline: known.json\n" + legacy + "  - {name: fresh, lock: redis-set-del, faults: pause, clients: 3, promises: ownership}\n"
	for range 2 { // the second suite replays what the first one has kept
		r, doc := suiteRun(t, new(engine), both)
		r.wants(t, violated, "known  legacy on sim: pause: ownership", "new    fresh on sim: pause: ownership")
		for _, c := range doc.Cells {
			if c.Kept && (c.Of != "fresh on sim: pause" || c.Verdict != results.Violated) {
				t.Errorf("%+v", c)
			}
		}
	}
	if dirs, _ := filepath.Glob(filepath.Join(regressionsDir, "fresh-*")); len(dirs) != 1 {
		t.Errorf("kept: %q", dirs)
	}
}

// pastRun writes a counterexample of ownership to a directory.
func pastRun(t *testing.T, dir string) {
	t.Helper()
	lockcheck(t, "run", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1", "--runs", "1",
		"--no-shrink", "--promise", "ownership", "--out", "past").wants(t, violated)
	runs, _ := filepath.Glob(filepath.Join("past", "*"))
	if len(runs) != 1 {
		t.Fatalf("%q", runs)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(runs[0], dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("past"); err != nil {
		t.Fatal(err)
	}
}

// keptCells returns the names of the replayed cells.
func keptCells(d *results.Document) (names []string) {
	if d == nil {
		return []string{"no result"}
	}
	for _, c := range d.Cells {
		if c.Kept {
			names = append(names, c.Name)
		}
	}
	return names
}

// The violation of a counterexample counts without its files, and one that cannot be
// kept does not prevent keeping others.
func TestAFileThatIsInTheWayHidesNoViolation(t *testing.T) {
	const two = "seed: 1\nlocks:\n  - {lock: redis-set-del, faults: pause, promises: ownership, runs: 30}\n  - {lock: redis-set-get-del, faults: pause, promises: ownership, runs: 200}\n"
	t.Chdir(t.TempDir())
	if err := os.Mkdir("lockcheck-out", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_ACTIONS", "true")
	way := filepath.Join("lockcheck-out", "redis-set-del-on-sim")
	if err := os.WriteFile(way, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r, doc := suiteRun(t, new(engine), two)
	if r.wants(t, usage); doc == nil || len(doc.Violations) == 0 {
		t.Fatalf("%+v\n%s", doc, r.stderr)
	}
	if told := strings.Count(r.stderr, "::error title=Ended early"); told != 1 || strings.Contains(r.stderr, "::error title=lockcheck::") {
		t.Errorf("what ended it is told %d times\n%s", told, r.stderr)
	}
	kept, _ := filepath.Glob(filepath.Join(regressionsDir, "*"))
	if len(kept) == 0 || strings.Contains(kept[0], "redis-set-del-") {
		t.Fatalf("%q\n%s", kept, r.stdout)
	}
	if err := os.Remove(way); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("lockcheck-out", regressionsDir), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r, doc = suiteRun(t, new(engine), two)
	if r.wants(t, usage); doc == nil || len(doc.Violations) == 0 || doc.Cells[0].Runs != 1 || doc.Cells[0].Verdict != results.Violated {
		t.Errorf("%+v\n%s", doc, r.stderr)
	}
}

// A lock that asks for other decisions than the recorded ones has not shown that it is
// fixed.
func TestDecisionsThatDoNotFitAreSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	pastRun(t, "regressions/a")
	r, doc := suiteRun(t, new(engine), quick, "--junit", "junit.xml")
	if r.wants(t, violated); doc.Cells[0].Unfit != 0 || strings.Contains(r.stdout, "not as recorded") {
		t.Errorf("%+v", doc.Cells[0])
	}
	editJSON(t, "regressions/a/schedule.json", func(s map[string]any) { s["choices"] = []any{} })
	r, doc = suiteRun(t, new(engine), quick, "--junit", "junit.xml")
	r.wants(t, held, "decisions not as recorded")
	if doc.Cells[0].Unfit == 0 {
		t.Errorf("%+v", doc.Cells[0])
	}
	text, err := os.ReadFile("junit.xml")
	if err != nil || !strings.Contains(string(text), `<property name="unfit" value="`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// A kept counterexample belongs to the lock that it was found with, whatever lock has
// that name in the file now.
func TestAKeptCounterexampleSaysWhichLockItIsOf(t *testing.T) {
	t.Chdir(t.TempDir())
	named := strings.Replace(ownerless, "lock: redis-set-del", "name: ours\n    lock: redis-set-del", 1)
	r, _ := suiteRun(t, new(engine), named)
	r.wants(t, violated, "Kept     regressions/ours-on-sim-pause-")
	r, _ = suiteRun(t, new(engine), strings.Replace(named, "lock: redis-set-del", "lock: redis-set-lua", 1))
	r.wants(t, violated, "lock is redis-set-del, as when it was kept;", "✓ ours on sim: pause")
}
