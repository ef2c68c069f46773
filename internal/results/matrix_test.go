package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// matrixShard returns shard n of two of a matrix. The first has the cells under none
// and kill, the second has the cell under pause. The runs violate the broken
// properties.
func matrixShard(n int, broken ...checker.Property) *Document {
	d := &Document{Head: Head{Schema: Schema, Command: matrixCommand, Version: "1", Settings: map[string]string{"seed": "1"}}, Seed: 1}
	d.Shards = Part(explore.Shard{N: n, Of: 2})
	d.Matrix = &Matrix{On: "sim", Lease: 10 * time.Second, Table: []string{"lock none", "lock pause", "lock kill"}}
	d.Matrix.Absent = []MatrixNoCell{{"lock", "failover", "there are no replicas"}}
	for _, fault := range [][]string{{"none", "kill"}, {"pause"}}[n-1] {
		of := &explore.Cell{Fault: fault, Expect: catalogue.Expectation{Codes: "S"}}
		of.Lock, of.On, of.Seed = "lock", "sim", 1
		r := heldRun()
		for i, p := range checker.Properties {
			if slices.Contains(broken, p) {
				r.verdicts[i].Outcome = checker.Violated
			}
		}
		result := explore.NewResult()
		result.Count(0, r.plan, r.verdicts, r.reached, &r.hazards)
		c := MatrixCell(of, result, true)
		if _, p := c.First(); p != "" {
			c.Property(p).Counterexample = &Counterexample{Seed: 1, File: fault + "/history.jsonl", Sentence: "it broke"}
		}
		d.Cells = append(d.Cells, c)
	}
	d.Decide()
	return d
}

// A matrix is written and read without a loss. The printed form has no results of runs.
func TestAMatrixKeepsAllOfItsCells(t *testing.T) {
	for _, d := range []*Document{matrixShard(1), matrixShard(1, checker.Exclusion, checker.Ownership)} {
		read := copied(d)
		if text(read) != text(d) {
			t.Errorf("%s\nbefore:\n%s", text(read), text(d))
		}
		if read.Decide(); text(read) != text(d) {
			t.Errorf("decided again:\n%s\nbefore:\n%s", text(read), text(d))
		}
		if printed := text(d.Printed()); strings.Contains(printed, `"result"`) || strings.Contains(printed, `"table"`) {
			t.Error(printed)
		}
	}
	if d := matrixShard(2, checker.Exclusion); d.Verdict != Violated || !d.Cells[0].Breaks() || d.Cells[0].Example().File != "pause/history.jsonl" {
		t.Error(text(d))
	}
}

// The shards of a matrix have complete cells, and are joined in the order of the table.
func TestShardsOfAMatrixAreJoined(t *testing.T) {
	one, two := matrixShard(1), matrixShard(2)
	for _, tt := range []struct {
		docs []*Document
		want string
	}{
		{[]*Document{two, one}, "[lock none lock pause lock kill] held 0"},
		{[]*Document{two, one, copied(one)}, "[lock none lock pause lock kill] held 0"},
		{[]*Document{one}, "[lock none lock kill] inconclusive 1"},
		{[]*Document{one, matrixShard(2, checker.Ownership)}, "[lock none lock pause lock kill] violated 0"},
		{[]*Document{one, two, matrixShard(2, checker.Ownership)}, "1/result.json and 2/result.json are both shard 2 of 2, and they differ"},
	} {
		chosen, shards, err := Choose(sources(tt.docs...))
		got := fmt.Sprint(err)
		if err == nil {
			d := Merge(documents(chosen), shards)
			var cells []string
			for _, c := range d.Cells {
				cells = append(cells, c.Name)
			}
			got = fmt.Sprint(cells, " ", d.Verdict, " ", d.Matrix.Left)
		}
		if !strings.HasPrefix(filepath.ToSlash(got), tt.want) {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// Unexpected violations of an earlier try count, also in a cell that this try did not
// reach.
func TestAMatrixTakesTheViolationsOfAnEarlierTry(t *testing.T) {
	now, earlier := matrixShard(1), matrixShard(1, checker.Ownership)
	now.Cells, now.Matrix.Left, now.Interrupted = now.Cells[:1], 1, true
	taken := now.TakeViolations(earlier)
	now.Decide()
	if fmt.Sprint(taken) != "[ownership in lock none ownership in lock kill]" || now.Count(explore.Unexpected) != 2 || now.Matrix.Left != 0 || now.Verdict != Violated {
		t.Errorf("%q\n%s", taken, text(now))
	}
	if now.Cells[0].Example().File != "none/history.jsonl" {
		t.Error(text(now))
	}
}

// No operation on a matrix that was read panics, whatever is in it.
func TestNoMatrixPanics(t *testing.T) {
	dir := t.TempDir()
	used := 0
	rapidtest.Check(t, func(t *rapid.T) {
		var v any
		if err := json.Unmarshal([]byte(text(matrixShard(1, checker.Exclusion))), &v); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text(changed(t, v))), 0o666); err != nil {
			t.Fatal(err)
		}
		d, err := Read(dir)
		if err != nil {
			return
		}
		used++
		d.Essence()
		d.Printed()
		other := matrixShard(2)
		d.TakeViolations(other)
		other.TakeViolations(d)
		chosen, shards, err := Choose(sources(d, matrixShard(2)))
		if err == nil && len(chosen) == 2 {
			Merge(documents(chosen), shards)
		}
	})
	if used == 0 {
		t.Error("no document was read")
	}
}
