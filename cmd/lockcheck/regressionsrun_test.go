package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/results"
)

// twoFaults writes a kept schedule with a pause that strikes, and a kill that does not.
func twoFaults(t *testing.T, dir string) {
	t.Helper()
	pastRun(t, dir)
	point := func(acquisition int) map[string]any {
		return map[string]any{"client": "c1", "acquisition": acquisition, "op": "acquire", "request": 1}
	}
	editJSON(t, filepath.Join(dir, scheduleFile), func(s map[string]any) {
		s["faults"] = []any{
			map[string]any{"fault": "pause", "on": []string{"c1"}, "for_ns": 1_000_000_000, "point": point(1)},
			map[string]any{"fault": "kill", "on": []string{"c1"}, "point": point(1000)},
		}
		delete(s, "workload")
		s["lock"], s["promises"] = "redis-set-lua", []string{"exclusion"}
	})
}

// A suite reports the same for a kept counterexample as replay does for its file.
func TestAKeptRunWhoseFaultHitNobodyProvesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	twoFaults(t, "regressions/a")
	lockcheck(t, "replay", "regressions/a/schedule.json", "--out", "replayed").wants(t, unproven, "kill had no effect")
	r, doc := suiteRun(t, new(engine), quick)
	r.wants(t, unproven, "kill had no effect")
	if c := doc.Cells[0]; !c.Kept || c.Verdict != results.Inconclusive {
		t.Errorf("%+v", c)
	}
}

// A run that is complete counts, even if the suite is interrupted right after it.
func TestAViolationInTheLastMomentCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	keptOnDocker(t, "ownership", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
	r, doc := suiteRun(t, interruptedEngine(t, 1), quick)
	r.wants(t, interrupted, "violated ownership")
	if doc == nil || doc.Cells[0].Verdict != results.Violated {
		t.Errorf("%+v", doc)
	}
}

// Without a server there is nothing to retry.
func TestAPlaceThatIsNotThereIsNotTriedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	keptOnDocker(t, "ownership", "redis-set-del", "--fault", "none", "--workload", "finally", "--seed", "1")
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // no server answers there
	if err := os.WriteFile("lockcheck.yaml", []byte("lockcheck: 1\n"+quick), 0o666); err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "suite")
	r.wants(t, unavailable)
	if strings.Contains(r.stdout+r.stderr, "tried again") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// Lists that are always present are also present in a cell that had no time.
func TestAKeptCellWithoutTimeHasItsLists(t *testing.T) {
	t.Chdir(t.TempDir())
	pastRun(t, "regressions/a")
	_, doc := suiteRun(t, new(engine), quick, "--for", "1ns")
	if c := doc.Cells[0]; !c.Kept || c.Cut != batch.TimeOver || len(c.Properties) != len(checker.Properties) || c.Reached == nil {
		t.Errorf("%+v", c)
	}
}
