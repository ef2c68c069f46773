package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
)

// brokenSuite is a suite that breaks a promise.
const brokenSuite = "lockcheck: 1\nruns: 20\nlocks:\n  - {lock: redis-set-lua, faults: pause, promises: exclusion}\n"

// lost runs the command while --out is replaced by a file after the first run has
// begun.
func lost(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	lose := func() {
		if err := os.RemoveAll(a.Out.Path); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(a.Out.Path, nil, 0o666); err != nil {
			t.Error(err)
		}
	}
	a.open = func(ctx context.Context, f ask.Environment) (*batch.Runner, error) {
		r, err := a.openEnvironment(ctx, f)
		if err != nil {
			return r, err
		}
		change(r, func(p *changed) {
			batch, execute := p.batch, p.execute
			p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
				defer lose()
				return batch(s, progress)
			}
			p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
				defer lose()
				return execute(plan, name)
			}
		})
		return r, nil
	}
	code := a.execute(t.Context(), args)
	if err := os.RemoveAll(a.Out.Path); err != nil {
		t.Error(err)
	}
	return result{code, stdout.String(), stderr.String()}
}

// The result is reported even if it cannot be saved: the last message, the document and
// the exit code agree, and no missing file is named.
func TestWhatCannotBeKeptIsTold(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	const (
		breaks = "--fault pause --seed 1 --runs 20 --promise exclusion"
		holds  = "lockcheck: 1\nruns: 5\nlocks:\n  - {lock: redis-set-lua, faults: none}\n"
	)
	for _, tt := range []struct {
		args, suite string
		says        string
		verdict     results.Verdict
	}{
		{"suite", brokenSuite, "Exit     4: violated", results.Violated},
		{"suite --shard 1/1", brokenSuite, "Exit     4: violated", results.Violated},
		{"suite", holds, "Exit     4: inconclusive: cannot write to --out", results.Inconclusive},
		{"run redis-set-lua " + breaks, "", "VIOLATED exclusion", results.Violated},
		{"run redis-set-lua --shard 1/1 " + breaks, "", "VIOLATED exclusion", results.Violated},
		{"run redis-set-lua --fault none --runs 5 --shard 1/1", "", "valid", results.Inconclusive},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("lockcheck.yaml", []byte(tt.suite), 0o666); err != nil {
			t.Fatal(err)
		}
		r := lost(t, append(strings.Fields(tt.args), "--junit", "j.xml")...)
		r.wants(t, usage, "lockcheck: cannot write to --out: ", tt.says)
		junit, err := os.ReadFile("j.xml")
		if err != nil {
			t.Error(err)
		}
		for _, text := range []string{r.stdout, r.stderr, string(junit)} {
			for _, word := range []string{"Files  ", "Shrunk  ", "Again", "File: ", historyFile, "Kept  "} {
				if strings.Contains(text, word) && !strings.Contains(text, "the story of ") && !strings.Contains(text, "is not kept") {
					t.Errorf("%s names what is not there, %q:\n%s", tt.args, word, text)
				}
			}
		}
		var doc results.Document
		r = lost(t, append(strings.Fields(tt.args), "--json")...)
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc.ExitCode != r.code || r.code != usage || doc.Verdict != tt.verdict {
			t.Errorf("%s: exit code %d, %v\n%s", tt.args, r.code, err, r.stdout)
		}
		for x := range doc.Counterexamples {
			if x.Replay != "" {
				t.Errorf("%s: %s", tt.args, x.Replay)
			}
		}
	}
}

// A run whose files cannot be written is complete, and the environment is not blamed.
func TestAReplayThatCannotBeKeptIsTold(t *testing.T) {
	t.Chdir(t.TempDir())
	lockcheck(t, strings.Fields("case redis-get-del-race --out kept")...).wants(t, held)
	file := filepath.Join("kept", "redis-get-del-race", scheduleFile)
	for _, args := range [][]string{{"-q"}, nil, {"--json"}} {
		r := lost(t, append([]string{"replay", file}, args...)...)
		r.wants(t, usage, "cannot write to --out: ")
		for _, word := range []string{"the environment failed", "its end", "Files ", "lockcheck-out/"} {
			if strings.Contains(r.stdout, word) {
				t.Errorf("%s: %q\n%s", args, word, r.stdout)
			}
		}
	}
	lost(t, "replay", "-q", file).wants(t, usage, "still violated; its files could not be written")
}

// If the files of one cell cannot be written, no other cell of a matrix is lost.
func TestAMatrixThatCannotBeKeptIsTold(t *testing.T) {
	t.Chdir(t.TempDir())
	var stdout bytes.Buffer
	a := newApp(nil, &stdout, nil)
	a.Out.Path = "out"
	want := gone(t, a)
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	a.Out.Path = filepath.Join("file", "out")
	m, err := goneThrough(t, a)
	if !outdir.Unkept(err) || m.Verdict != results.Violated || m.ExitCode != usage || len(m.Cells) != len(want.Cells) {
		t.Errorf("%v: %s, %d, %d cells, want %d", err, m.Verdict, m.ExitCode, len(m.Cells), len(want.Cells))
	}
	a.Matrix(m)
	if text := stdout.String(); strings.Contains(text, "Files") || !strings.Contains(strings.Join(strings.Fields(text), " "), want.Sum()) {
		t.Error(text)
	}
}
