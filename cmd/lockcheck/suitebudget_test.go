package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/results"
)

func TestTimeThatIsLeftIsUsed(t *testing.T) {
	t.Chdir(t.TempDir())
	start := time.Now()
	_, doc := suiteRun(t, new(engine), quick, "--runs", "3", "--for", "1500ms")
	least := doc.Cells[0].Runs
	for _, c := range doc.Cells {
		least = min(least, c.Runs)
	}
	if took := time.Since(start); least <= 3 || took > 30*time.Second {
		t.Errorf("%d runs at least, after %v", least, took)
	}
	for _, c := range doc.Cells {
		if c.Runs > least+2*256 {
			t.Errorf("%s has %d runs, another %d", c.Name, c.Runs, least)
		}
	}
}

func TestACellWithoutTimeProvesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	e := &engine{breaks: func(int) error { time.Sleep(20 * time.Millisecond); return nil }}
	var text strings.Builder
	text.WriteString("locks:\n")
	for i := range 5 {
		fmt.Fprintf(&text, "  - {name: n%d, lock: redis-set-lua, on: docker, faults: none}\n", i)
	}
	r, doc := suiteRun(t, e, text.String(), "--for", "10ms")
	r.wants(t, unproven, "n4 on docker: none  0 runs  proves nothing: time was over", "Exit     2: inconclusive: n")
	last := doc.Cells[len(doc.Cells)-1]
	if last.Runs != 0 || last.Verdict != results.Inconclusive || last.Cut != batch.TimeOver {
		t.Errorf("%+v", last)
	}
}

// A large number of runs does not stop the limit from ending a suite.
func TestTimeEndsAnyNumberOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	many := strings.Fields("run redis-set-lua --fault none --runs 1000000000 --for 500ms --shard 1/2 --out run")
	start := time.Now()
	lockcheck(t, many...).wants(t, held, "time was over")
	suiteRun(t, new(engine), strings.Replace(quick, "runs: 40", "runs: 1000000000", 1), "--for", "500ms", "--shard", "1/2")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
