package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// The same choices twice with different histories can only be a bug.
func TestAReplayThatDoesNotRepeatItselfIsABug(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "case", "redis-get-del-race", "--out", out)
	file := filepath.Join(out, "redis-get-del-race", scheduleFile)
	calls := 0
	in(t, t.Context(), func(p *changed) {
		execute := p.execute
		p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
			j, fit, err := execute(plan, name)
			calls++
			j.History.Entries[0].Time += time.Duration(calls)
			return j, fit, err
		}
	}, "replay", file).wants(t, bug, "the run does not repeat: twice the same choices led to two histories")
}

func TestAGlobNamesNothing(t *testing.T) {
	args := []string{"redis-*", "redis-get-del-race"}
	for pattern, want := range map[string]bool{"redis-get-del-race": true, "redis-del-unowned": false} {
		if got := ask.Named(args)(pattern); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

func TestFilesAreWholeAndOfOneRun(t *testing.T) {
	out := t.TempDir()
	a := newApp(nil, new(bytes.Buffer), new(bytes.Buffer))
	a.Out.Path = out
	plan := &harness.Plan{Lock: "redis-set-lua", On: "docker", Lease: time.Second, Clients: []string{"c1"}, Acquires: 1}
	dir := filepath.Join(out, "name")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{historyFile, scheduleFile, verdictFile, storyFile, rundir.MessagesFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("of an earlier run"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := rundir.Begin(filepath.Join(a.Out.Path, "name"), plan)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	left, _ := os.ReadDir(dir)
	if len(left) != 2 || left[0].Name() != historyFile || left[1].Name() != scheduleFile {
		t.Errorf("when a run begins there are %v", left)
	}
	if _, err := rundir.ReadPlan(filepath.Join(dir, historyFile)); err != nil {
		t.Error(err)
	}
}

func TestAgainIsALineToCopy(t *testing.T) {
	for word, want := range map[string]string{"a-b/c.json": "a-b/c.json", "my dir": "'my dir'", "it's": `'it'\''s'`, "": "''", "*": "'*'"} {
		if got := terminal.Quoted(word); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	var stdout bytes.Buffer
	a := newApp(nil, &stdout, new(bytes.Buffer))
	t.Chdir(t.TempDir())
	long := filepath.Join("lockcheck-out", strings.Repeat("long", 20))
	if err := os.MkdirAll(long, 0o777); err != nil {
		t.Fatal(err)
	}
	if a.ReplayLine(long); stdout.Len() > 0 {
		t.Errorf("there is nothing to replay: %s", &stdout)
	}
	if err := os.WriteFile(filepath.Join(long, scheduleFile), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	a.ReplayLine(long)
	if text := stdout.String(); !strings.HasPrefix(text, "Again    ") || !strings.Contains(text, "replay \\\n         lockcheck-out") {
		t.Error(text)
	}
	stdout.Reset()
	a.ReplayLine(long, "--allow-worker", "--mysql", "me@tcp(127.0.0.1:3306)/shop")
	if text := stdout.String(); !strings.Contains(text, "schedule.json \\\n         --allow-worker --mysql 'me@tcp(127.0.0.1:3306)/shop'\n") {
		t.Error(text)
	}
	// A shell joins continued lines, but not within quotes.
	for _, word := range []string{"my out", "it's my out", strings.Repeat("a b ", 30), `back\ slash's`} {
		file := terminal.Quoted(filepath.Join(strings.Repeat("long", 10), word, scheduleFile))
		for _, command := range []string{"lockcheck replay " + file, "lockcheck run " + file + " --out " + file + " --seed 1"} {
			stdout.Reset()
			a.CommandLine("Again    ", command)
			text, whole := strings.CutPrefix(stdout.String(), "Again    ")
			if joined := strings.ReplaceAll(text, " \\\n         ", " "); !whole || joined != command+"\n" || strings.Count(text, file) != strings.Count(command, file) {
				t.Errorf("%s\nis printed as\n%s", command, text)
			}
		}
	}
}
