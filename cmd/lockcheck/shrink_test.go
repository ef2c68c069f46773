package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// screen is how many lines the story of a minimised run may have: a terminal window a
// little larger than the classic 24 lines.
const screen = 40

// Every run that is kept of a lock on one server can be replayed from its files by
// another process, original and minimised: to the same bytes and the same violation.
func TestWhatIsKeptReplays(t *testing.T) {
	out := t.TempDir()
	binary := built(t)
	r := lockcheck(t, "run", "redis-*", "--seed", "1", "--runs", "300", "--json", "--out", out)
	r.wants(t, violated)
	var files []string
	locks := map[string]bool{}
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == scheduleFile {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shrunk := 0
	for _, file := range files {
		plan, err := rundir.ReadPlan(file)
		if err != nil {
			t.Fatal(err)
		}
		locks[plan.Lock] = true
		if plan.Shrunk != nil {
			shrunk++
		}
	}
	ids, err := ask.Match("lock", []string{"redis-*"}, names.Locks())
	if err != nil {
		t.Fatal(err)
	}
	if len(locks) != len(ids) || shrunk < len(ids) || shrunk == len(files) {
		t.Errorf("%d files of %d locks, %d of them shrunk", len(files), len(locks), shrunk)
	}
	command := exec.Command(binary, append([]string{"replay", "--json", "--out", t.TempDir()}, files...)...)
	text, _ := command.Output()
	if code := command.ProcessState.ExitCode(); code != violated {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	var doc struct{ Files []judging.Document }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Files) != len(files) {
		t.Fatalf("%d of %d: %v", len(doc.Files), len(files), err)
	}
	for i, file := range files {
		now := doc.Files[i]
		before, err1 := os.ReadFile(filepath.Join(filepath.Dir(file), historyFile))
		after, err2 := os.ReadFile(now.File)
		if err1 != nil || err2 != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: replayed to another history (%v, %v)", file, err1, err2)
		}
		was := map[string]bool{}
		for _, p := range now.Was {
			was[p] = true
		}
		for _, p := range now.Properties {
			if was[p.Property] && p.Outcome != "violated" {
				t.Errorf("%s: %s was violated, and is %s", file, p.Property, p.Outcome)
			}
		}
		if *now.Unused != 0 || *now.Defaulted != 0 || len(now.Was) == 0 {
			t.Errorf("%s: %d unused, %d missing, a counterexample of %q", file, *now.Unused, *now.Defaulted, now.Was)
		}
	}
}

// The number of jobs does not affect the kept files, minimised ones included.
func TestJobsDoNotChangeWhatIsKept(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for out, jobs := range map[string]string{one: "1", two: "2"} {
		lockcheck(t, "run", "redis-set-del", "--fault", "pause", "--seed", "1", "--runs", "200", "--jobs", jobs, "--out", out).wants(t, violated)
	}
	err := filepath.WalkDir(one, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(one, path)
		a, err1 := os.ReadFile(path)
		b, err2 := os.ReadFile(filepath.Join(two, name))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v, %v)", name, err1, err2)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// run prints the minimised story of the first broken promise on one screen, and names
// both directories.
func TestRunTellsTheShrunkStory(t *testing.T) {
	out := t.TempDir()
	r := lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "1", "--promise", "ownership", "--out", out)
	r.wants(t, violated, "shrunk for ownership ──", "Shrunk   for ownership from 4 clients", " to 2, 2,",
		"Files    "+filepath.Join(out, "redis-set-get-del-pause-44")+"\n",
		"Shrunk   "+filepath.Join(out, "redis-set-get-del-pause-44", "shrunk-ownership")+"\n")
	story, _, _ := strings.Cut(r.stdout, "redis-set-get-del on sim:")
	if n := strings.Count(story, "\n"); n > screen {
		t.Errorf("the story takes %d lines:\n%s", n, story)
	}
	if strings.Contains(story, "c3") {
		t.Errorf("the story needs more than two clients:\n%s", story)
	}
	dir := filepath.Join(out, "redis-set-get-del-pause-44", "shrunk-ownership")
	kept, err := os.ReadFile(filepath.Join(dir, storyFile))
	if err != nil || !strings.Contains(string(kept), "VIOLATED ownership") || !strings.Contains(string(kept), "Shrunk   for ownership from 4 clients") {
		t.Errorf("%v: %s", err, kept)
	}
	var verdict judging.Document
	text, err := os.ReadFile(filepath.Join(dir, verdictFile))
	if err != nil || json.Unmarshal(text, &verdict) != nil || verdict.Shrunk == nil || verdict.Shrunk.For != "ownership" {
		t.Errorf("%v: %s", err, text)
	}

	r = lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--json", "--out", out)
	r.wants(t, violated, filepath.Join(dir, historyFile))
	long := t.TempDir()
	r = lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--no-shrink", "--out", long)
	r.wants(t, violated)
	if left, _ := filepath.Glob(filepath.Join(long, "*", "shrunk-*")); len(left) > 0 || strings.Contains(r.stdout, "Shrunk  ") {
		t.Errorf("--no-shrink shrinks: %v\n%s", left, r.stdout)
	}
}

func TestShrink(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--no-shrink", "--out", out)
	dir := filepath.Join(out, "redis-set-get-del-pause-44")
	file := filepath.Join(dir, scheduleFile)
	lockcheck(t, "shrink", file, "--out", out).wants(t, held, "VIOLATED exclusion", "Shrunk   for exclusion from 4 clients", filepath.Join(dir, "shrunk-exclusion"))
	r := lockcheck(t, "shrink", filepath.Join(dir, historyFile), "--property", "ownership", "--json", "--out", out)
	r.wants(t, held, `"for": "ownership"`, filepath.Join(dir, "shrunk-ownership", historyFile))

	healthy := filepath.Join(out, "redis-set-lua-none-1", scheduleFile)
	lockcheck(t, "run", "redis-set-lua", "--fault", "none", "--seed", "1", "--runs", "1", "--keep", "all", "--out", out)
	lockcheck(t, "case", "redis-get-del-race", "--out", out)
	real := filepath.Join(out, "real.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, replaced(`"on": "sim"`, `"on": "docker"`)(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		word string
	}{
		{healthy, unproven, "nothing to shrink: the run of " + healthy + " does not violate any property"},
		{file + " --property liveness", unproven, "nothing to shrink"},
		{file + " --property livenes", usage, "did you mean liveness"},
		{filepath.Join(out, "redis-get-del-race", scheduleFile), usage, "follow scripts that somebody wrote"},
		{real, usage, "recorded on docker"},
		{filepath.Join(out, "none.json"), usage, "no file "},
		{"", usage, "shrink needs a FILE"},
	} {
		lockcheck(t, append([]string{"shrink", "--out", out}, strings.Fields(tt.args)...)...).wants(t, tt.code, tt.word)
	}
}

// An interrupt leaves the result so far, and says that it is incomplete.
func TestAnInterruptedShrink(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--no-shrink", "--out", out)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := in(t, ctx, func(p *changed) {
		execute := p.execute
		p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
			cancel()
			return execute(plan, name)
		}
	}, "shrink", filepath.Join(out, "redis-set-get-del-pause-44", scheduleFile))
	r.wants(t, interrupted, "interrupted, so there may be a shorter one")
}
