package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// An invalid value is reported with its file and field, whoever wrote it.
func TestADocumentThatCannotBeIsRefused(t *testing.T) {
	whole := func() *Document {
		d := shard(2)
		d.Cells[0].Bound = &explore.Bound{}
		violate(d, checker.Exclusion)
		d.Decide()
		return d
	}
	path := filepath.Join(t.TempDir(), File)
	read := func(d *Document) error {
		t.Helper()
		if err := os.WriteFile(path, []byte(text(d)), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(path)
		return err
	}
	if err := read(whole()); err != nil {
		t.Fatalf("what lockcheck wrote is refused: %v", err)
	}
	if err := read(&Document{Head: Head{Schema: Schema, Command: "run", Verdict: Inconclusive, Settings: map[string]string{}}, Cells: []Cell{}}); err != nil {
		t.Errorf("a document without cells is refused: %v", err)
	}
	of := func(s Shards) func(*Document) { return func(d *Document) { d.Shards = &s } }
	for _, tt := range []struct {
		change func(*Document)
		want   string
	}{
		{func(d *Document) { d.Schema = -1 }, "schema is -1"},
		{func(d *Document) { d.Verdict = "good" }, `verdict is "good": it has to be held, violated,`},
		{func(d *Document) { d.Runs = -1 }, "runs is -1: it cannot be negative"},
		{func(d *Document) { d.Settings = nil }, "settings is not there"},
		{func(d *Document) { d.Cells = append(d.Cells, d.Cells[0]) }, `cells[1].name is "cell", as that of another cell`},
		{func(d *Document) { d.Seconds = -1 }, "seconds is -1"},
		{of(Shards{Of: 4, Have: []int{}}), "shards.have is empty"},
		{of(Shards{Of: 0}), "shards.of is 0: it has to be 1 to 10000"},
		{of(Shards{Of: 100_000_000, Have: []int{1}}), "shards.of is 100000000: it has to be 1 to 10000"},
		{of(Shards{Of: 4, Have: []int{7}}), "shards.have has 7: it has to have numbers from 1 to 4, in order"},
		{of(Shards{Of: 4, Have: []int{2, 2}}), "shards.have has 2"},
		{of(Shards{Of: 4, Have: []int{2}, Cut: []int{3}}), "shards.cut has 3, which shards.have does not have"},
		{of(Shards{Of: 4, Have: []int{2}, Missing: []int{0}}), "shards.missing has 0"},
		{of(Shards{Of: 2, Have: []int{2}, Missing: []int{2}}), "shards.missing has 2, which shards.have has, too"},
		{of(Shards{Of: 4, Have: []int{1, 2}, Missing: []int{3}}), "shards.have and shards.missing have 3 numbers"},
		{func(d *Document) { d.Cells[0].Verdict = "" }, `cells[0].verdict is "": it has to be`},
		{func(d *Document) { d.Cells[0].Runs = -1 }, "cells[0].runs is -1"},
		{func(d *Document) { d.Cells[0].Seconds = -1 }, "cells[0].seconds is -1"},
		{func(d *Document) { d.Cells[0].Reached["grants"] = -1 }, "cells[0].reached.grants is -1"},
		{func(d *Document) { d.Cells[0].Drawn = map[string]int{"pause": -2} }, "cells[0].drawn.pause is -2"},
		{func(d *Document) { d.Cells[0].Bound.States = -1 }, "cells[0].bound.states is -1"},
		{func(d *Document) { d.Cells[0].Properties[0].Outcome = "fine" }, `cells[0].properties[0].outcome is "fine": it has to be violated, unknown, valid or n/a`},
		{func(d *Document) { d.Cells[0].Properties[1].Runs = map[string]Tally{"fine": {}} }, `cells[0].properties[1].runs has "fine"`},
		{func(d *Document) { d.Cells[0].Properties[1].Runs = map[string]Tally{"valid": {Count: -1}} }, "cells[0].properties[1].runs.valid.count is -1"},
		{func(d *Document) { d.Cells[0].Properties[1].Runs = map[string]Tally{"valid": {Count: 1, Seed: 1}} }, "cells[0].properties[1].runs.valid.seed is 1: the first run of the cell has 100"},
		{func(d *Document) { d.Cells[0].Property(checker.Exclusion).Counterexample = nil }, "cells[0].properties has exclusion, which is violated, without a file"},
		{func(d *Document) { d.Cells[0].Properties[1].Property = d.Cells[0].Properties[0].Property }, "twice"},
	} {
		d := whole()
		tt.change(d)
		if err := read(d); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want %s and the file", err, tt.want)
		}
	}
}
