package main

import (
	"encoding/json"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

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
