package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

func TestFairnessIsMeasuredAndDrawn(t *testing.T) {
	out := t.TempDir()
	args := []string{"bench", "fairness", "--clients", "4,2,4", "--for", "50s", "--out", out}
	first := lockcheck(t, args...)
	first.wants(t, held, "Acquisitions out of turn", "  mysql-optimistic ", "  mysql-fair, late ", "seed 1", "late: 9.875 s", "fairness-sim.svg")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	page, picture := read("fairness.md"), read("fairness-sim.svg")
	if !strings.Contains(page, "| clients | 2 | 4 |") || !strings.Contains(page, "| mysql-fair | 0 | 0 |") || !strings.HasPrefix(picture, "<svg ") {
		t.Errorf("%s\n%s", page, picture)
	}
	if again := lockcheck(t, args...); again.stdout != first.stdout || read("fairness.md") != page || read("fairness-sim.svg") != picture {
		t.Error("the same command gives something else")
	}
	lockcheck(t, append(args, "--seed", "2")...).wants(t, held, "seed 2")
	if read("fairness.md") == page {
		t.Error("another seed changes nothing")
	}
	lockcheck(t, append(args, "--lease", "1s")...).wants(t, held, "Lease T = 1 s", "late: 0.875 s")
}

func TestFairnessAsJSON(t *testing.T) {
	r := lockcheck(t, "bench", "fairness", "--json", "--clients", "3", "--for", "50s", "--out", t.TempDir())
	r.wants(t, held)
	var doc bench.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || doc.Bench != "fairness" || doc.On != "sim" || doc.Lock != "" || doc.Seed != 1 || len(doc.Cells) != len(bench.Fairness.Sides) {
		t.Errorf("%+v", doc)
	}
	for i, c := range doc.Cells {
		overtaken := 0
		for _, n := range c.Overtaken {
			overtaken += n
		}
		if c.Lock != bench.Fairness.Sides[i].Lock || c.Waiting != "" || c.Hold <= 0 || c.Clients != 3 || len(c.Overtaken) != 3 ||
			c.OutOfTurn > c.Acquisitions || overtaken < c.OutOfTurn || overtaken > 2*c.OutOfTurn {
			t.Errorf("%+v", c)
		}
	}
	if free, fair := doc.Cells[0], doc.Cells[1]; free.OutOfTurn == 0 || fair.OutOfTurn > 0 {
		t.Errorf("out of turn are %d without a queue, and %d with one", free.OutOfTurn, fair.OutOfTurn)
	}
}

func TestFairnessUsedWrongly(t *testing.T) {
	for _, c := range []struct{ args, words string }{
		{"bench fairnes", "did you mean fairness?"},
		{"bench fairness herd", "one thing at a time"},
		{"bench fairness --clients 0,2", "from 1 to 1000"},
		{"bench fairness --for 1s", "from 3 to 1000 leases"},
		{"bench fairness --lease 500ms", "at least 1s"},
		{"bench fairness --jobs 0", "--jobs 0: it has to be at least 1"},
	} {
		lockcheck(t, strings.Fields(c.args)...).wants(t, usage, c.words)
	}
}
