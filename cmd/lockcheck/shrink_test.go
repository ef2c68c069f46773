package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

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
