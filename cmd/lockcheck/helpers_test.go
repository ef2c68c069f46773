package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The exit codes.
const (
	held, violated, unproven = exit.Held, exit.Violated, exit.Unproven
	unavailable, usage, bug  = exit.Unavailable, exit.Usage, exit.Bug
	interrupted              = exit.Interrupted
)

// The files of a kept run.
const (
	historyFile, scheduleFile = rundir.HistoryFile, rundir.ScheduleFile
	verdictFile, storyFile    = rundir.VerdictFile, rundir.StoryFile
)

// regressionsDir is the default directory of kept counterexamples.
const regressionsDir = "regressions"

// result is the output of one command.
type result struct {
	code           int
	stdout, stderr string
}

func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(stdin, stdout, stderr).execute(ctx, args)
}

// lockcheck runs the command in this process.
func lockcheck(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

func (r result) wants(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.stdout+r.stderr, w) {
			t.Errorf("%q is not said:\n%s%s", w, r.stdout, r.stderr)
		}
	}
	if line := tooWide(r.stdout); line != "" {
		t.Errorf("%d columns: %s", len([]rune(line)), line)
	}
}

// sharded runs a command in parts, each with a directory of its own below dir. Part i
// must end with the i-th of the codes.
func sharded(t *testing.T, dir, args string, codes ...int) {
	t.Helper()
	for i, code := range codes {
		r := lockcheck(t, append(strings.Fields(args), "--shard", fmt.Sprintf("%d/%d", i+1, len(codes)), "--out", filepath.Join(dir, fmt.Sprint(i+1)))...)
		if r.code != code {
			t.Fatalf("shard %d: exit code %d, want %d\n%s%s", i+1, r.code, code, r.stdout, r.stderr)
		}
		if len(codes) > 1 && !strings.Contains(r.stdout, fmt.Sprintf("Shard    %d of %d", i+1, len(codes))) {
			t.Errorf("it is not said that this is a part:\n%s", r.stdout)
		}
	}
}

// write writes a file, and makes its directories.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func there(t *testing.T, file string, want bool) {
	t.Helper()
	if _, err := os.Stat(file); (err == nil) != want {
		t.Errorf("%s: it is there: %v, want %v", file, !want, want)
	}
}

// suiteRun writes a suite to this directory and runs it.
func suiteRun(t *testing.T, e *engine, text string, args ...string) (result, *results.Document) {
	t.Helper()
	if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\n"+text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := e.runs(t, append([]string{"suite"}, args...)...)
	doc, err := results.Read("lockcheck-out")
	if err != nil {
		doc = nil
	} else if doc.ExitCode != r.code && r.code != usage { // a usage error leaves the older result
		t.Errorf("exit code %d, and the document says %d", r.code, doc.ExitCode)
	}
	return r, doc
}

// verdicts returns the verdicts of a document's cells by name.
func verdicts(d *results.Document) map[string]results.Verdict {
	list := map[string]results.Verdict{}
	if d != nil {
		for _, c := range d.Cells {
			list[c.Name] = c.Verdict
		}
	}
	return list
}

const real = `
locks:
  - {name: real, lock: redis-set-lua, on: docker, faults: none, runs: 3}
  - {name: del, lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership}
`

// quick is a suite that holds.
const quick = `
runs: 40
locks:
  - {name: one, lock: redis-set-lua, faults: [pause, kill], promises: [ownership]}
  - {name: two, lock: redis-set-lua, faults: none, clients: 2}
`

// document returns the document that a command printed with --json.
func document(t *testing.T, r result) *results.Document {
	t.Helper()
	doc := new(results.Document)
	if err := json.Unmarshal([]byte(r.stdout), doc); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return doc
}

// theCommand is built once for all tests. TestMain removes it.
var theCommand struct {
	once sync.Once
	dir  string
	err  error
}

// built returns the path of the command.
func built(t testing.TB) string {
	t.Helper()
	theCommand.once.Do(func() {
		if theCommand.dir, theCommand.err = os.MkdirTemp("", "lockcheck-test-"); theCommand.err != nil {
			return
		}
		if text, err := exec.Command("go", "build", "-o", theCommand.dir+string(filepath.Separator), ".").CombinedOutput(); err != nil {
			theCommand.err = fmt.Errorf("%w\n%s", err, text)
		}
	})
	if theCommand.err != nil {
		t.Fatal(theCommand.err)
	}
	return filepath.Join(theCommand.dir, "lockcheck")
}
