package outdir

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
)

// resultOn returns the result on a page, or "".
func resultOn(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	h, _ := index.ReadHead(f)
	return h.Result
}

// The page of a command that has begun says so, and is touched until it ends.
func TestACommandUnderWayShowsThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", "b")
		page := filepath.Join(dir, index.File)
		d := &Dir{Path: dir}
		head := &results.Head{Command: "run", Settings: map[string]string{"arguments": "redlock"}}
		if err := d.Clear(head); err != nil {
			t.Fatal(err)
		}
		if got := resultOn(t, page); got != index.Running {
			t.Errorf("the page says %q", got)
		}
		begun := time.Now() // of this test's clock, which the file system does not know
		time.Sleep(2*Alive + Alive/2)
		if info, err := os.Stat(page); err != nil || !info.ModTime().Equal(begun.Add(2*Alive)) {
			t.Errorf("touched at %v, %v", info.ModTime(), err)
		}
		if err := d.Show(&index.Page{Head: index.Head{Command: "run", Result: "held"}}); err != nil {
			t.Fatal(err)
		}
		d.End()
		if got := resultOn(t, page); got != "held" {
			t.Errorf("after its end the page says %q", got)
		}
	})
}

// A command that ends without a result leaves nothing that it made.
func TestACommandWithoutAResultLeavesNothing(t *testing.T) {
	root := t.TempDir()
	d := &Dir{Path: filepath.Join(root, "a", "b")}
	if err := d.Clear(&results.Head{Command: "run"}); err != nil {
		t.Fatal(err)
	}
	d.End()
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	d.Path = root // which was there before
	if err := d.Clear(&results.Head{Command: "run"}); err != nil {
		t.Fatal(err)
	}
	d.End()
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
