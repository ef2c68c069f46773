package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

func TestContentionIsMeasuredAndDrawn(t *testing.T) {
	out := t.TempDir()
	args := []string{"bench", "contention", "--clients", "4,2,4", "--for", "20s", "--out", out}
	first := lockcheck(t, args...)
	first.wants(t, held, "Commands sent for each acquisition", "spin", "exponential", "seed 1", "contention-sim.svg")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	page, picture := read("contention.md"), read("contention-sim.svg")
	if !strings.Contains(page, "| clients | 2 | 4 |") || !strings.HasPrefix(picture, "<svg ") {
		t.Errorf("%s\n%s", page, picture)
	}
	if again := lockcheck(t, args...); again.stdout != first.stdout || read("contention.md") != page || read("contention-sim.svg") != picture {
		t.Error("the same command gives something else")
	}

	lockcheck(t, append(args, "--seed", "2")...).wants(t, held, "seed 2")
	if read("contention.md") == page {
		t.Error("another seed changes nothing")
	}
	lockcheck(t, append(args, "--lease", "1s")...).wants(t, held, "lease T = 1 s", "held for 0.005 s")
}

func TestContentionAsJSON(t *testing.T) {
	r := lockcheck(t, "bench", "contention", "--json", "--clients", "3", "--for", "10s", "--out", t.TempDir())
	r.wants(t, held)
	var doc bench.Document
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != 1 || doc.Bench != "contention" || doc.On != "sim" || doc.Seed != 1 || doc.Cores != 0 || len(doc.Cells) != len(bench.Contention.Sides) {
		t.Errorf("%+v", doc)
	}
	for _, c := range doc.Cells {
		if c.Clients != 3 || len(c.Grants) != 3 || c.Acquisitions == 0 || c.Each < 1.9 || c.PerSecond <= 0 || c.Evenness <= 0 || c.Evenness > 1 {
			t.Errorf("%+v", c)
		}
	}
}

func TestBenchUsedWrongly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, words string }{
		{"bench", "bench what? contention"},
		{"bench contentoin", "did you mean contention?"},
		{"bench contention contention", "one thing at a time"},
		{"bench contention --clients 0,2", "from 1 to 1000"},
		{"bench contention --clients 2000", "from 1 to 1000"},
		{"bench contention --clients two", "clients"},
		{"bench contention --for 1s", "from 1 to 1000 leases"},
		{"bench contention --jobs 0", "--jobs 0: it has to be at least 1"},
		{"bench contention --lease 1ms", "--lease"},
		{"bench contention --on moon", "moon"},
		{"bench contention --clients 1 --for 10s --out " + file, "cannot write to --out"},
	} {
		lockcheck(t, strings.Fields(c.args)...).wants(t, usage, c.words)
	}
}
