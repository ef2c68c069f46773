package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// BenchmarkAllCases measures `lockcheck case`: every case three times in virtual time,
// judged by both judges, explained and written to disk. It has to take less than 2 s.
func BenchmarkAllCases(b *testing.B) {
	out := b.TempDir()
	for b.Loop() {
		start := time.Now()
		var stdout, stderr bytes.Buffer
		if code := execute(b.Context(), []string{"case", "--out", out}, nil, &stdout, &stderr); code != held {
			b.Fatalf("exit code %d\n%s", code, &stderr)
		}
		if took := time.Since(start); took > 2*time.Second {
			b.Errorf("all cases took %v", took)
		}
	}
}

// BenchmarkCaseOnDocker measures one case with a real server: three containers, and
// clients in processes. It has to take less than 6 s.
func BenchmarkCaseOnDocker(b *testing.B) {
	dockertest.Require(b)
	path := built(b)
	for b.Loop() {
		start := time.Now()
		if out, err := exec.Command(path, "case", "redis-get-del-race", "--on", "docker", "--out", b.TempDir()).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		if took := time.Since(start); took > 6*time.Second {
			b.Errorf("the case took %v", took)
		}
	}
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
