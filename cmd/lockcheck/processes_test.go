package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockcheck/lockcheck/internal/ask"
)

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

// A seed gives the same files and the same document to the byte in every process,
// whatever else runs: with one processor or two, with one job or several.
func TestABatchIsTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	binary := built(t)
	for _, strategy := range ask.Strategies {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			var first map[string]string
			for _, processors := range []int{1, 2} {
				for _, jobs := range []int{1, 2} {
					dir := t.TempDir()
					args := []string{"run", "redis-set-*", "--json", "--strategy", strategy, "--jobs", fmt.Sprint(jobs), "--out", "out"}
					if strategy != ask.Exhaustive { // it draws nothing and searches everything
						args = append(args, "--seed", "1", "--runs", "150")
					}
					cmd := exec.Command(binary, args...)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", processors))
					var stdout, stderr bytes.Buffer
					cmd.Stdout, cmd.Stderr = &stdout, &stderr
					if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != violated {
						t.Fatalf("%v\n%s", err, &stderr)
					}
					files := texts(t, dir)
					files["the document"] = took.ReplaceAllString(stdout.String(), "")
					if first == nil {
						first = files
						if len(first) < 20 {
							t.Errorf("only %d files were kept", len(first))
						}
					}
					for _, name := range slices.Sorted(maps.Keys(files)) {
						if files[name] != first[name] {
							t.Errorf("GOMAXPROCS=%d --jobs %d: %s is another one", processors, jobs, name)
						}
					}
					if len(files) != len(first) {
						t.Errorf("GOMAXPROCS=%d --jobs %d: %d files, want %d", processors, jobs, len(files), len(first))
					}
				}
			}
		})
	}
}

// texts returns the texts of the files below dir by path.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// took matches the durations in a document, which differ between two runs.
var took = regexp.MustCompile(`"seconds": [0-9.e+-]+`)
