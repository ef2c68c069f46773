package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// edit changes a file of a kept run.
func edit(t *testing.T, change func([]byte) []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(text)
	if bytes.Equal(text, changed) {
		t.Fatalf("%s is as before", name)
	}
	if err := os.WriteFile(name, changed, 0o666); err != nil {
		t.Fatal(err)
	}
}

// replaced returns a function that replaces the first old with new.
func replaced(old, new string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(new), 1) }
}

func TestAReplayThatDoesNotRepeat(t *testing.T) {
	const id = "redis-get-del-race"
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		args   []string
		code   int
		words  []string
	}{
		{"as it was", func(*testing.T, string) {}, nil, violated, []string{"the same to the byte"}},
		{"another history", func(t *testing.T, dir string) {
			edit(t, replaced(`"f":"acquire"`, `"f":"acquire","text":"odd"`), dir, historyFile)
		}, nil, violated, []string{"another one", "the code has changed since"}},
		{"another version's history", func(t *testing.T, dir string) {
			edit(t, replaced(harness.Version, "0.0.7"), dir, historyFile)
		}, nil, violated, []string{"another one", `"0.0.7"`}},
		{"an edited schedule", func(t *testing.T, dir string) {
			edit(t, replaced(`"for_ns": 6000000000`, `"for_ns": 6100000000`), dir, scheduleFile)
		}, nil, violated, []string{"schedule was changed"}},
		{"another promise", func(*testing.T, string) {}, []string{"--promise", "exclusion"}, violated, []string{"but for what is promised"}},
		{"no history", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, historyFile)) }, nil, violated, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			lockcheck(t, "case", id, "--out", out)
			dir := filepath.Join(out, id)
			tt.change(t, dir)
			args := append([]string{"replay", filepath.Join(dir, scheduleFile), "--out", out}, tt.args...)
			lockcheck(t, args...).wants(t, tt.code, tt.words...)
		})
	}
}

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

// The same schedule with another lock is judged anew, and the decisions that did not
// fit are listed.
func TestACounterexampleOnAnotherLock(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--out", out)
	file := filepath.Join(out, "redis-set-get-del-pause-44", "shrunk-ownership", scheduleFile)
	lockcheck(t, "replay", file, "--out", out).wants(t, violated, "the same to the byte")
	lockcheck(t, "replay", file, "--lock", "redis-set-lua", "--out", out).wants(t, held,
		"recorded decisions were not asked for.", "redis-set-lua-pause-44-shrunk-ownership-replay")
	r := lockcheck(t, "replay", file, "--lock", "redis-set-lua", "--json", "--out", out)
	r.wants(t, held)
	var doc judging.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.Unused == nil || *doc.Unused == 0 || doc.Defaulted == nil || !slices.Equal(doc.Was, []string{"ownership"}) {
		t.Errorf("%v: %s", err, r.stdout)
	}
	for _, wrong := range []struct {
		args []string
		word string
	}{
		{[]string{"--lock", "redis-set-lu"}, "did you mean redis-set-lua"},
		{[]string{"--option", "fast"}, "no option"},
		{[]string{"--lock", "redis-setnx", "--option", "claim"}, "redis-setnx has no option claim"},
	} {
		lockcheck(t, append([]string{"replay", file, "--out", out}, wrong.args...)...).wants(t, usage, wrong.word)
	}
	// This option makes the lock send more, so the run needs more decisions than were
	// recorded.
	lockcheck(t, "replay", file, "--option", "spin", "--out", out).wants(t, held, "missing and got their least disturbing value")
}

// A directory of counterexamples, with any names, works as regression tests.
func TestADirectoryOfCounterexamples(t *testing.T) {
	out, kept := t.TempDir(), t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "44", "--runs", "1", "--out", out)
	for _, p := range []string{"ownership", "lease-exclusion"} {
		text, err := os.ReadFile(filepath.Join(out, "redis-set-get-del-pause-44", "shrunk-"+p, scheduleFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(kept, p+".json"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	oneLine := func(r result) result {
		r.stdout = strings.Join(strings.Fields(r.stdout), " ")
		return r
	}
	r := oneLine(lockcheck(t, "replay", "-q", kept, "--out", out))
	r.wants(t, violated, "ownership still violated", "lease-exclusion still violated")
	if strings.Contains(r.stdout, "VIOLATED") {
		t.Errorf("-q tells stories:\n%s", r.stdout)
	}
	lockcheck(t, "replay", kept, "--lock", "redis-set-lua", "--out", out).wants(t, held, "✓ ownership        valid")
	oneLine(lockcheck(t, "replay", "-q", kept, "--lock", "redis-set-lua", "--out", out)).wants(t, held, "ownership held now", "not as recorded")
	lockcheck(t, "replay", t.TempDir(), "--out", out).wants(t, usage, "there is no schedule below")
	// Replaying a directory does not replay the replays in it.
	if again := oneLine(lockcheck(t, "replay", "-q", out, "--out", out)); strings.Contains(again.stdout, "-replay") || !strings.Contains(again.stdout, "shrunk-ownership") {
		t.Error(again.stdout)
	}
}

// The name of a replay's directory does not depend on where the file lies.
func TestAReplayIsNamedAfterItsRun(t *testing.T) {
	out, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "moved")
	lockcheck(t, "case", "redis-get-del-race", "--out", out)
	lockcheck(t, "run", "redis-set-lua", "--fault", "none", "--seed", "5", "--runs", "1", "--keep", "all", "--out", out)
	if err := os.Rename(filepath.Join(out, "redis-get-del-race"), elsewhere); err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{
		filepath.Join(elsewhere, scheduleFile):                   "redis-get-del-race-replay",
		filepath.Join(out, "redis-set-lua-none-5", scheduleFile): "redis-set-lua-none-5-replay",
	} {
		lockcheck(t, "replay", file, "--out", out)
		if _, err := os.Stat(filepath.Join(out, name, historyFile)); err != nil {
			t.Error(err)
		}
	}
	// A replay of a replay compares with the files before it overwrites them.
	file := filepath.Join(out, "redis-get-del-race-replay", scheduleFile)
	edit(t, replaced(`"f":"acquire"`, `"f":"acquire","text":"odd"`), out, "redis-get-del-race-replay", historyFile)
	lockcheck(t, "replay", file, "--out", out).wants(t, violated, "the code has changed since")
	// Two schedules with one name do not overwrite each other.
	lockcheck(t, "replay", filepath.Join(elsewhere, scheduleFile), file, "--out", out).wants(t, violated,
		"redis-get-del-race-replay\n", "redis-get-del-race-replay-2\n")
}

func TestAReplayWhoseFaultTouchesNobodyProvesNothing(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-lua", "--fault", "kill-connection", "--clients", "1", "--acquires", "1", "--faults", "1", "--seed", "33",
		"--runs", "1", "--keep", "all", "--out", out)
	file := filepath.Join(out, "redis-set-lua-kill-connection-33", scheduleFile)
	lockcheck(t, "replay", file, "--out", out).wants(t, unproven, "Proves nothing: kill-connection had no effect.")
	lockcheck(t, "replay", file, "--json", "--out", out).wants(t, unproven, `"reason": "kill-connection had no effect"`)
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
	for _, name := range []string{historyFile, scheduleFile, verdictFile, storyFile} {
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
