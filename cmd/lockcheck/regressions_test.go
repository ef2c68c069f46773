package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/results"
)

// take moves what a suite came to out of the way of the next one.
func take(t *testing.T, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join("lockcheck-out", results.File), to); err != nil {
		t.Fatal(err)
	}
}

// Two entries of one lock under one fault are two locks to whoever has a
// baseline: what one of them has broken says nothing of the other.
func TestWhatOneEntryBreaksIsNotKnownThroughAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	const legacy = "runs: 60\nlocks:\n  - {name: legacy, lock: redis-set-del, faults: pause, promises: ownership}\n"
	suiteRun(t, new(engine), legacy)
	take(t, "known.json")
	if err := os.RemoveAll(regressionsDir); err != nil {
		t.Fatal(err)
	}
	const both = "baseline: known.json\n" + legacy + "  - {name: fresh, lock: redis-set-del, faults: pause, clients: 3, promises: ownership}\n"
	for range 2 { // the second replays what the first has kept
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

// pastRun leaves a counterexample of ownership in a directory.
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

// keptCells are the cells of what was replayed, by name.
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

func TestWhatIsKeptBehindALinkIsReplayed(t *testing.T) {
	for _, tt := range []struct {
		what  string
		links [][2]string // what is to lead where, below this directory
		past  string
		want  []string
	}{
		{"no link", nil, "regressions/a", []string{"regressions/a"}},
		{"the directory is one", [][2]string{{"regressions", "elsewhere"}}, "elsewhere/a", []string{"regressions/a"}},
		{"a directory below is one", [][2]string{{"regressions/b", "../elsewhere"}}, "elsewhere/a", []string{"regressions/b/a"}},
		{"a file is one", [][2]string{{"regressions/b.json", "../elsewhere/a/schedule.json"}}, "elsewhere/a", []string{"regressions/b"}},
		{"a volume of Kubernetes", [][2]string{{"regressions/..data", "..2026"}, {"regressions/b.json", "..data/a/schedule.json"}}, "regressions/..2026/a", []string{"regressions/b"}},
		{"they go round in circles", [][2]string{{"regressions/b", ".."}, {"elsewhere/c", "../regressions"}}, "elsewhere/a", []string{"regressions/b/elsewhere/a"}},
	} {
		t.Chdir(t.TempDir())
		args := []string{"--out", "out"}
		if strings.HasPrefix(tt.what, "they go") {
			args[1] = t.TempDir()
		}
		for _, l := range tt.links {
			for _, dir := range []string{filepath.Dir(l[0]), "elsewhere"} {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.FromSlash(l[1]), l[0]); err != nil {
				t.Fatal(err)
			}
		}
		pastRun(t, tt.past)
		r, _ := suiteRun(t, new(engine), quick, args...)
		r.wants(t, violated, "Past     1 counterexample replayed")
		doc, err := results.Read(args[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := keptCells(doc); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestALinkThatLeadsNowhereIsNoReasonToPass(t *testing.T) {
	for _, link := range []string{"regressions", "regressions/a", "regressions/a.json"} {
		t.Chdir(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", link); err != nil {
			t.Fatal(err)
		}
		r, _ := suiteRun(t, new(engine), quick)
		r.wants(t, usage, "the counterexamples of the past: ", filepath.FromSlash(link))
	}
}

// One that somebody has damaged is none, either. What never was one may lie beside it.
func TestADamagedCounterexampleIsNoReasonToPass(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("regressions", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code int
	}{
		{"{\"lockcheck_schedule\": 1, \"lock\": \"redis-s", usage},
		{"{\"lockcheck_schedule\": 1}\n>>>>>>> theirs\n", usage},
		{"{\"lockcheck_schedule\": 1, \"lock\": \"redis-setnx\", \"on\": \"foo\", \"seed\": 1, \"lease_ns\": 10000000000, \"clients\": [\"c1\"], \"acquires\": 1}\n", usage},
		{"{ // compilerOptions", held},
		{"[1]", held},
	} {
		if err := os.WriteFile("regressions/a.json", []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, _ := suiteRun(t, new(engine), quick)
		r.wants(t, tt.code)
		if tt.code == usage && !strings.Contains(r.stderr, filepath.FromSlash("regressions/a.json")) {
			t.Errorf("%s: %s", tt.text, r.stderr)
		}
	}
}

// What a counterexample showed is not lost with its files, and one that cannot be
// kept keeps no other one out.
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

// Else what one suite has left is what the next one replays.
func TestWhatIsKeptAndWhatRunsLeaveLieApart(t *testing.T) {
	t.Chdir(t.TempDir())
	for dir, link := range map[string]string{"behind": "lockcheck-out", "around": "."} {
		for _, dir := range []string{"kept", "lockcheck-out"} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(link, dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ regressions, out string }{
		{".", "lockcheck-out"},
		{"lockcheck-out", "lockcheck-out"},
		{"./lockcheck-out/regressions", "lockcheck-out"},
		{"kept", "kept/out"},
		{"behind/kept", "lockcheck-out"},
		{"around", "lockcheck-out"},
		{"kept", "around/kept/deep/out"},
	} {
		r, _ := suiteRun(t, new(engine), "regressions: "+tt.regressions+"\n"+quick, "--out", tt.out)
		r.wants(t, usage, "are not apart", "--out "+tt.out)
	}
	r, _ := suiteRun(t, new(engine), "regressions: kept-not\n"+quick, "--out", "kept", "--runs", "5")
	r.wants(t, held, "Past     no counterexample was there to be replayed")
}

func TestTwoKeptFilesAreTwoCells(t *testing.T) {
	for _, tt := range []struct{ at, want []string }{
		{[]string{"x/schedule.json", "y.json"}, []string{"regressions/x", "regressions/y"}},
		{[]string{"x/schedule.json", "x.json"}, []string{"regressions/x/schedule.json", "regressions/x.json"}},
		{[]string{"x/schedule.json", "x.json", "x.json.json"}, []string{"regressions/x/schedule.json", "regressions/x.json", "regressions/x.json.json"}},
		{[]string{"schedule.json"}, []string{"regressions/schedule"}},
	} {
		var files []string
		for _, file := range tt.at {
			files = append(files, filepath.Join(regressionsDir, filepath.FromSlash(file)))
		}
		got := keptNames("./"+regressionsDir, files)
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q are called %q, want %q", tt.at, got, tt.want)
		}
	}
}

// A lock that asks for other decisions has not shown that it would not do the
// same again.
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

// What was not shrunk for want of time would be kept again, shrunk, by the next suite.
func TestAnInterruptedSuiteKeepsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	e := interruptedEngine(t, 2)
	const text = "locks:\n  - {lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, runs: 9}\n"
	r, doc := suiteRun(t, e, text)
	if r.wants(t, interrupted, "VIOLATED ownership"); doc.Verdict != results.Violated {
		t.Errorf("%s", doc.Verdict)
	}
	if dirs, _ := filepath.Glob(filepath.Join(regressionsDir, "*")); dirs != nil {
		t.Errorf("kept: %q", dirs)
	}
}

// On docker all suites begin with the seed 1, and what they find may be found
// under other settings than the last time.
func TestANameThatIsTakenKeepsNothingOut(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "locks:\n  - {name: a, lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, acquires: 5}\n"
	for i, tt := range []struct {
		text, kept string
	}{
		{text, "a-on-docker-none-1"},
		{text, ""}, // the same
		{strings.Replace(text, "acquires: 5", "acquires: 6", 1), "a-on-docker-none-1-2"},
		{strings.Replace(text, "acquires: 5", "acquires: 7", 1), "a-on-docker-none-1-3"},
		{text, ""},
	} {
		before, _ := os.ReadDir(regressionsDir)
		r, _ := suiteRun(t, new(engine), tt.text)
		r.wants(t, violated)
		after, _ := os.ReadDir(regressionsDir)
		if tt.kept == "" {
			if len(after) != len(before) || strings.Contains(r.stdout+r.stderr, "Kept ") || strings.Contains(r.stderr, "not kept") {
				t.Errorf("%d: %d are kept, and %d were\n%s", i, len(after), len(before), r.stderr)
			}
			continue
		}
		r.wants(t, violated, "Kept     regressions/"+tt.kept+",")
		keptFiles(t, filepath.Join(regressionsDir), historyFile, scheduleFile, storyFile, verdictFile)
	}
}

// A counterexample is of the lock that it was found in, whatever lock has that
// name in the file by now.
func TestAKeptCounterexampleSaysWhichLockItIsOf(t *testing.T) {
	t.Chdir(t.TempDir())
	named := strings.Replace(ownerless, "lock: redis-set-del", "name: ours\n    lock: redis-set-del", 1)
	r, _ := suiteRun(t, new(engine), named)
	r.wants(t, violated, "Kept     regressions/ours-on-sim-pause-")
	r, _ = suiteRun(t, new(engine), strings.Replace(named, "lock: redis-set-del", "lock: redis-set-lua", 1))
	r.wants(t, violated, "lock is redis-set-del, as when it was kept;", "✓ ours on sim: pause")
}
