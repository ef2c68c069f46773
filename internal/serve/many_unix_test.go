//go:build unix

package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
)

// worked returns how long this process has had a processor: other programs may be busy.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// 10,000 results are listed in under a second of work, one of them beside a result.json of 4 GiB.
func TestManyResultsAreListedSoon(t *testing.T) {
	p := newPlace(t)
	page, err := (&index.Page{Head: held("suite")}).HTML()
	if err != nil {
		t.Fatal(err)
	}
	p.write("00/0/"+index.File, string(page))
	for i := 1; i < 10_000; i++ {
		dir := filepath.Join(p.dir, fmt.Sprintf("%02d/%d", i%100, i))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(p.dir, "00/0", index.File), filepath.Join(dir, index.File)); err != nil {
			t.Fatal(err)
		}
	}
	p.write("00/0/"+results.File, "")
	if err := os.Truncate(filepath.Join(p.dir, "00/0", results.File), 4<<30); err != nil {
		t.Fatal(err)
	}
	var text string
	took := time.Hour
	for range 3 {
		p.stale()
		start := worked(t)
		text = p.get("/", "").Body.String()
		took = min(took, worked(t)-start)
	}
	t.Logf("listed in %v", took)
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
	for _, want := range []string{"1 to 200 of 10,000", `href="/?from=200`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if text = p.get("/?from=9900", "").Body.String(); !strings.Contains(text, "9,901 to 10,000 of 10,000") {
		t.Error("the last ones are not there")
	}
	if text = p.get("/?q=57/1057+held", "").Body.String(); !strings.Contains(text, "1 to 1 of 1, among 10,000") {
		t.Errorf("the filter finds\n%s", text[strings.Index(text, "<section"):])
	}
}
