package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/examples"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// inFolder runs the built command in a directory.
func inFolder(t *testing.T, dir, binary string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	// The test must not write to GitHub's log or summary.
	cmd.Env = append(os.Environ(), "GITHUB_ACTIONS=", "GITHUB_STEP_SUMMARY=")
	_ = cmd.Run()
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// init writes the files of examples/, and the suite has no mistakes.
func TestInitWritesTheExample(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new one")
	lockcheck(t, "init", dir).wants(t, held, filepath.Join(dir, "lockcheck.yaml"), filepath.Join(dir, "worker.py"), "cd '"+dir+"' && ", " suite")
	for _, name := range []string{"lockcheck.yaml", "worker.py"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("..", "..", "examples", "workers", "python", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is another than that of examples/", name)
		}
		for i, line := range strings.Split(string(got), "\n") {
			if name == suite.File && len(line) > 80 {
				t.Errorf("%s:%d has %d columns", name, i+1, len(line))
			}
		}
		if _, err := suite.Parse(got); name == suite.File && err != nil {
			t.Error(err)
		}
	}
	r := lockcheck(t, "init", "--json", filepath.Join(dir, "b"))
	var doc initDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Schema != 1 || len(doc.Files) != 2 {
		t.Errorf("%v, %s", err, r.stdout)
	}
}

// The next commands that init prints work in the directory that they change to.
func TestInitNamesTheProgramFromTheOtherDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	was := os.Args[0]
	defer func() { os.Args[0] = was }()
	for called, want := range map[string]string{
		"../bin/lockcheck": "cd 'a b/c' && ../../../bin/lockcheck suite",
		"lockcheck":        "cd 'a b/c' && lockcheck suite",
		"/bin/lockcheck":   "cd 'a b/c' && /bin/lockcheck suite",
	} {
		os.Args[0] = called
		lockcheck(t, "init", "a b/c").wants(t, held, want)
		if err := os.RemoveAll("a b"); err != nil {
			t.Fatal(err)
		}
	}
}

// If any of the files exists, init writes nothing. Its files go to DIR, not to the
// directory of --out.
func TestInitHasNoOut(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, "init", "--out", "x").wants(t, usage, "leave out --out")
	if r := lockcheck(t, "merge", "--help"); strings.Contains(r.stdout, `(default "lockcheck-out")`) {
		t.Error(r.stdout)
	}
}

func TestInitOverwritesNothing(t *testing.T) {
	files, err := examples.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		dir := t.TempDir()
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		lockcheck(t, "init", dir).wants(t, usage, "nothing was written", path)
		text, err := os.ReadFile(path)
		if err != nil || string(text) != "mine" {
			t.Errorf("%s is %q now, %v", path, text, err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("beside %s there is more", f.Name)
		}
	}
	lockcheck(t, "init", "a", "b").wants(t, usage, "init takes one DIR: leave out b")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lockcheck(t, "init", file).wants(t, usage, "nothing was written")
}

// The cells of the example that need no Docker all hold.
func TestTheSimPartOfTheExampleHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, "init").wants(t, held)
	text, err := os.ReadFile(suite.File)
	if err != nil {
		t.Fatal(err)
	}
	sim, _, ok := strings.Cut(string(text), "\n  # A lock of your own")
	if !ok {
		t.Fatal("the example has no lock of one's own")
	}
	if err := os.WriteFile(suite.File, []byte(sim), 0o600); err != nil {
		t.Fatal(err)
	}
	var doc results.Document
	r := lockcheck(t, "suite", "--json")
	r.wants(t, held)
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cells) != 4 {
		t.Errorf("%d cells", len(doc.Cells))
	}
	for _, c := range doc.Cells {
		if c.Verdict != results.Held || c.Runs < 1000 {
			t.Errorf("%s: %s after %d runs", c.Name, c.Verdict, c.Runs)
		}
	}
}

// All mistakes of a file are printed in the format that editors read. The schema is
// that of package suite.
func TestMistakesInASuite(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte("lockcheck: 1\nlocks:\n  - lock: redis-set-lau\n    faults: puase\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "suite", "mine.yaml")
	r.wants(t, usage, "mine.yaml cannot be used", "\nmine.yaml:3:11: no lock \"redis-set-lau\"; did you mean redis-set-lua", "\nmine.yaml:4:13: no fault \"puase\"; did you mean pause?")
	for _, args := range [][]string{{"suite", "--schema"}, {"suite", "--schema", "--json"}} {
		if r := lockcheck(t, args...); r.code != held || r.stdout != string(suite.Schema) {
			t.Errorf("%v: exit code %d, %q", args, r.code, r.stdout)
		}
	}
}

// The example passes as init writes it. With one wrong line in its release it breaks
// its promise: the suite reports it, prints the story and keeps the counterexample.
// With the line fixed, the counterexample is replayed and passes.
func TestAnEmptyFolderABrokenLineAndAMendedOne(t *testing.T) {
	t.Parallel()
	dockertest.Program(t, "python3")
	lockcheck, dir := binary(t), t.TempDir()
	inFolder(t, dir, lockcheck, "init").wants(t, held)
	suiteOf(t, dir, lockcheck)

	worker := filepath.Join(dir, "worker.py")
	good, err := os.ReadFile(worker)
	if err != nil {
		t.Fatal(err)
	}
	const release = `removed = redis.call("EVAL", COMPARE_AND_DELETE, 1, q["lock"], value)`
	if strings.Count(string(good), release) != 1 {
		t.Fatalf("worker.py has no line %s", release)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(worker, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(string(good), release, `removed = redis.call("DEL", q["lock"])`, 1))
	broken := inFolder(t, dir, lockcheck, "suite")
	broken.wants(t, violated, "lease-exclusion", "regressions")
	kept, err := filepath.Glob(filepath.Join(dir, "regressions", "*", scheduleFile))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no counterexample was kept: %v\n%s%s", err, broken.stdout, broken.stderr)
	}
	story, err := os.ReadFile(filepath.Join(filepath.Dir(kept[0]), storyFile))
	if err != nil || !strings.Contains(string(story), "lease-exclusion") {
		t.Errorf("no story beside it: %v\n%s", err, story)
	}

	write(string(good))
	once(t, filepath.Join(dir, suite.File)) // two holders at a time have been seen by now
	cells := suiteOf(t, dir, lockcheck)
	was := 0
	for _, c := range cells {
		if c.Kept {
			was++
		}
	}
	if was != len(kept) {
		t.Errorf("%d counterexamples were replayed, and %d kept", was, len(kept))
	}
	nothingLeft(t, lockcheck)
}

// once sets the number of runs of each cell on docker to 1.
func once(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "\n    runs: 2\n") != 1 {
		t.Fatalf("%v, or no runs in\n%s", err, text)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "runs: 2", "runs: 1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// suiteOf runs the suite of a directory and returns its cells. All must hold, the
// worker's cell with the promise lease-exclusion.
func suiteOf(t *testing.T, dir, binary string) []results.Cell {
	t.Helper()
	r := inFolder(t, dir, binary, "suite", "--json")
	r.wants(t, held)
	var doc results.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	mine := 0
	for _, c := range doc.Cells {
		if c.Verdict != results.Held || c.Runs == 0 {
			t.Errorf("%s: %s after %d runs: %s", c.Name, c.Verdict, c.Runs, c.Reason)
		}
		if c.Lock == "mine" && !c.Kept && slices.Contains(c.Promises, checker.LeaseExclusion) {
			mine++
		}
	}
	if mine != 2 {
		t.Errorf("%d cells of the worker", mine)
	}
	return doc.Cells
}
