package rundir_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// files returns the names of the files in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// The messages of a kept run are in a file beside its history. They are copied and removed
// with it, and do not stay beside the history of another run.
func TestMessagesAreAFileOfTheRun(t *testing.T) {
	t.Parallel()
	plan := &harness.Plan{Lock: "redis-set-lua", On: "sim", Seed: 7, Lease: 10 * time.Second, Clients: []string{"c1", "c2"}, Acquires: 2}
	j, _, err := harness.Simulate(sim.Simulator, plan)
	if err != nil {
		t.Fatal(err)
	}
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := rundir.Save(dir, j); err != nil {
		t.Fatal(err)
	}
	if got := rundir.Messages(filepath.Join(dir, rundir.HistoryFile)); len(got.List) == 0 || !reflect.DeepEqual(got, j.Messages) {
		t.Errorf("read: %+v", got)
	}
	if got := rundir.Messages(filepath.Join(dir, "other.jsonl")); got != nil {
		t.Errorf("of another history: %+v", got)
	}
	want := slices.Sorted(slices.Values(rundir.Files))
	if err := rundir.Copy(dir, to); err != nil || !slices.Equal(files(t, to), want) {
		t.Errorf("%v, copied: %v", err, files(t, to))
	}
	text, err := os.ReadFile(filepath.Join(dir, rundir.MessagesFile))
	if copied, errCopied := os.ReadFile(filepath.Join(to, rundir.MessagesFile)); err != nil || errCopied != nil || !bytes.Equal(text, copied) {
		t.Errorf("the copy differs: %v, %v", err, errCopied)
	}
	j.Messages = nil
	if err := rundir.Save(to, j); err != nil || slices.Contains(files(t, to), rundir.MessagesFile) {
		t.Errorf("%v, kept without messages: %v", err, files(t, to))
	}
	if err := rundir.Remove(dir); err != nil || rundir.Exists(dir) {
		t.Errorf("%v, it is there: %v", err, rundir.Exists(dir))
	}
}
