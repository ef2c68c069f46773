package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/rundir"
)

// check judges the history of a run, passes over its messages, and shows them on the page.
func TestCheckFindsTheMessagesBesideAHistory(t *testing.T) {
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--seed", "4", "--runs", "1", "-q", "--out", out)
	dirs, _ := filepath.Glob(filepath.Join(out, "*", rundir.MessagesFile))
	if len(dirs) != 1 {
		t.Fatalf("messages: %v", dirs)
	}
	dir := filepath.Dir(dirs[0])
	if got := lockcheck(t, "check", dir); strings.Contains(got.stdout+got.stderr, rundir.MessagesFile) {
		t.Errorf("check speaks of the messages:\n%s%s", got.stdout, got.stderr)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	lockcheck(t, "check", filepath.Join(dir, historyFile), "--html", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), `id="showmessages"`) {
		t.Errorf("%v: the page has no messages", err)
	}
}
