package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

func TestTheHerdIsMeasuredAndDrawn(t *testing.T) {
	out := t.TempDir()
	args := []string{"bench", "herd", "--clients", "8,2,8", "--for", "1s", "--out", out}
	first := lockcheck(t, args...)
	first.wants(t, held, "Children listed for each hand-over", "zk-children", "zk-recipe", "N^2.0", "seed 1", "sessions of 10 s", "herd-sim.svg")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	page, picture := read("herd.md"), read("herd-sim.svg")
	if !strings.Contains(page, "| waiters | 2 | 8 | growth |") || !strings.Contains(page, "| zk-children | 4 | 64 | N^2.0 |") || !strings.HasPrefix(picture, "<svg ") {
		t.Errorf("%s\n%s", page, picture)
	}
	if again := lockcheck(t, args...); again.stdout != first.stdout || read("herd.md") != page || read("herd-sim.svg") != picture {
		t.Error("the same command gives something else")
	}
	lockcheck(t, append(args, "--seed", "2")...).wants(t, held, "seed 2")
	if read("herd.md") == page {
		t.Error("another seed changes nothing")
	}
	lockcheck(t, append(args, "--lease", "4s")...).wants(t, held, "sessions of 4 s")
}

// The default number of columns, with the widest possible figures, fits a terminal.
func TestTheHerdFitsATerminal(t *testing.T) {
	r := lockcheck(t, "bench", "herd", "--for", "1s", "--out", t.TempDir())
	r.wants(t, held, "65536  N^2.0\n")
}

func TestTheHerdAsJSON(t *testing.T) {
	r := lockcheck(t, "bench", "herd", "--json", "--clients", "2,4", "--for", "1s", "--out", t.TempDir())
	r.wants(t, held)
	var doc bench.HerdDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || doc.Bench != "herd" || doc.On != "sim" || doc.SessionMS != 10_000 || doc.Seconds != 1 || doc.Seed != 1 || doc.Cores != 0 {
		t.Errorf("%+v", doc)
	}
	if len(doc.Cells) != 2*len(bench.Queued) {
		t.Errorf("%d cells", len(doc.Cells))
	}
	for _, c := range doc.Cells {
		if c.HandOvers == 0 || len(c.Figures) != len(bench.HerdMeasures) || c.Figures["hand_over_ms"] <= 0 || c.Figures["listed_by_hand_over"] < float64(c.Waiters) {
			t.Errorf("%+v", c)
		}
	}
	powers := map[string]float64{}
	for _, g := range doc.Growth {
		powers[g.Lock+" "+g.Figure] = g.Power
	}
	for what, want := range map[string]float64{
		"zk-children notified_by_hand_over": 1, "zk-children listed_by_hand_over": 2,
		"zk-recipe notified_by_hand_over": 0, "zk-recipe listed_by_hand_over": 1,
	} {
		if got, ok := powers[what]; !ok || got < want-0.01 || got > want+0.01 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	if _, ok := powers["zk-recipe notified_by_arrival"]; ok {
		t.Error("what is always 0 has no growth")
	}
}

func TestTheHerdUsedWrongly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, words string }{
		{"bench herdd", "did you mean herd?"},
		{"bench herd contention", "one thing at a time"},
		{"bench herd --clients 0,2", "from 1 to 512"},
		{"bench herd --clients 513", "from 1 to 512"},
		{"bench herd --clients two", "clients"},
		{"bench herd --for 10ms", "from 1s to 10m"},
		{"bench herd --for 1h", "from 1s to 10m"},
		{"bench herd --jobs 0", "--jobs 0: it has to be at least 1"},
		{"bench herd --lease 1ms", "--lease"},
		{"bench herd --on moon", "moon"},
		{"bench herd --clients 2 --for 1s --out " + file, "cannot write to --out"},
	} {
		lockcheck(t, strings.Fields(c.args)...).wants(t, usage, c.words)
	}
}
