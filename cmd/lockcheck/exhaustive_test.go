package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

func TestExhaustiveProvesWithinItsBound(t *testing.T) {
	r := lockcheck(t, "run", "redis-set-lua", "--strategy", "exhaustive", "--fault", "kill", "--out", t.TempDir())
	r.wants(t, held, "redis-set-lua on sim, exhaustively: 2 clients × 1, at most 1 fault", "each of 2 clients asks for the lock once", "dates were written, by 3/2 T",
		"kill: all of this bound explored: ", "✓ valid     exclusion; lease-exclusion; ownership; resource; answers")
}

func TestExhaustiveRefutesWithTheShortestSchedule(t *testing.T) {
	out := t.TempDir()
	r := lockcheck(t, "run", "redis-set-get-del", "--strategy", "exhaustive", "--fault", "pause", "--out", out)
	r.wants(t, violated, "VIOLATED", "all of this bound explored: ", "ownership after ", "Again ")
	for _, prop := range []string{"exclusion", "ownership", "resource"} {
		file := filepath.Join(out, "redis-set-get-del-pause-exhaustive-2x1-"+prop, scheduleFile)
		lockcheck(t, "replay", file, "--out", t.TempDir()).wants(t, violated, "VIOLATED "+prop, "The history is the same to the byte.")
	}
	file := filepath.Join(out, "redis-set-get-del-pause-exhaustive-2x1-ownership", scheduleFile)
	lockcheck(t, "replay", file, "--lock", "redis-set-lua", "--out", t.TempDir()).wants(t, held, "ownership")
}

func TestExhaustiveThatIsCutShortProvesNothing(t *testing.T) {
	r := lockcheck(t, "run", "redis-set-lua", "--strategy", "exhaustive", "--fault", "kill", "--runs", "50", "--out", t.TempDir())
	r.wants(t, unproven, "bounded, not complete", "? unknown")
}

func TestExhaustiveInJSON(t *testing.T) {
	r := lockcheck(t, "run", "redis-set-lua", "--strategy", "exhaustive", "--fault", "pause,kill", "--json", "--out", t.TempDir())
	var doc results.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != violated {
		t.Fatalf("exit code %d, %v:\n%s", r.code, err, r.stdout)
	}
	if len(doc.Cells) != 2 || !doc.Cells[0].Bound.Complete || doc.Cells[0].Property(checker.Exclusion).Outcome != "violated" ||
		doc.Cells[1].Property(checker.Exclusion).Outcome != "valid" || doc.Runs != doc.Cells[0].Bound.Schedules+doc.Cells[1].Bound.Schedules {
		t.Errorf("%+v", doc)
	}
	for _, v := range doc.Violations {
		if _, err := os.Stat(v.File); err != nil {
			t.Error(err)
		}
	}
}

func TestExhaustiveRefusesWhatItCannotUse(t *testing.T) {
	for flag, value := range map[string]string{"--seed": "1", "--depth": "2", "--on": "docker", "--keep": "all"} {
		r := lockcheck(t, "run", "redis-set-lua", "--strategy", "exhaustive", flag, value)
		r.wants(t, usage, "--strategy exhaustive")
		if !strings.Contains(r.stderr, strings.TrimPrefix(flag, "--")) {
			t.Errorf("%s is not named: %s", flag, r.stderr)
		}
	}
}
