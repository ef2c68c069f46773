package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/results"
)

// The next suite cannot replay a counterexample that was not kept. Every output of this
// suite says so.
func TestWhatIsNotKeptForTheNextSuiteEndsThisOne(t *testing.T) {
	const text = "seed: 1\nruns: 30\nlocks:\n  - {lock: redis-set-del, faults: pause, promises: [ownership, exclusion]}\n"
	t.Chdir(t.TempDir())
	t.Setenv("GITHUB_ACTIONS", "true")
	_, before := suiteRun(t, new(engine), text)
	dirs, _ := filepath.Glob(filepath.Join(regressionsDir, "*"))
	if len(dirs) != 2 {
		t.Fatalf("kept: %q", dirs)
	}
	inTheWay := func() {
		for _, dir := range dirs { // where a copy is built before it is complete
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(fmt.Sprintf("%s.%d.tmp", dir, os.Getpid()), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	const says = "the counterexample is not kept: "
	inTheWay()
	r, doc := suiteRun(t, new(engine), text, "--junit", "junit.xml")
	r.wants(t, usage, "Exit     4: violated", "::error title=Ended early")
	if strings.Count(r.stderr, "lockcheck: "+says) != 2 || strings.Contains(r.stdout, "Kept  ") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	junit, err := os.ReadFile("junit.xml")
	if err != nil || strings.Count(string(junit), says) == 0 {
		t.Errorf("%v\n%s", err, junit)
	}
	if doc.ExitCode != usage || fmt.Sprint(verdicts(doc)) != fmt.Sprint(verdicts(before)) {
		t.Errorf("exit code %d: %v, before %v", doc.ExitCode, verdicts(doc), verdicts(before))
	}
	inTheWay()
	r, _ = suiteRun(t, new(engine), text, "--json")
	if err := json.Unmarshal([]byte(r.stdout), doc); err != nil || doc.ExitCode != usage || doc.Verdict != results.Violated {
		t.Errorf("%v: exit code %d: %s", err, doc.ExitCode, doc.Verdict)
	}
}

// An unfinished copy of a killed suite is removed, so that nobody commits it.
func TestWhatAKilledSuiteLeftOfACopyGoes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		dir, file string
		since     time.Duration
		stays     bool
	}{
		{"a-pause-4-exclusion.1.tmp", historyFile, time.Hour, false},
		{"b-pause-4-exclusion.4194304.tmp", scheduleFile, time.Hour, false},
		{"c-pause-4-exclusion.4194304.tmp", historyFile, time.Minute, true},
		{"theirs.1.tmp", "notes.txt", time.Hour, true},
		{"theirs.tmp", historyFile, time.Hour, true},
		{"theirs/d-pause-4-exclusion.1.tmp", historyFile, time.Hour, true}, // no suite writes there
	} {
		dir := filepath.Join(regressionsDir, filepath.FromSlash(tt.dir))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-tt.since)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, tt.file), nil, 0o666), os.Chtimes(dir, then, then)); err != nil {
			t.Fatal(err)
		}
		r, _ := suiteRun(t, new(engine), quick, "--runs", "5")
		r.wants(t, held, "no counterexamples to replay")
		if _, err := os.Stat(dir); (err == nil) != tt.stays {
			t.Errorf("%s: %v", tt.dir, err)
		}
	}
}
