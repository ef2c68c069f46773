package results

import (
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// For each property a document shows the violation with the lowest seed, and the first
// one of two with the same seed.
func TestADocumentNamesEachPropertyOnce(t *testing.T) {
	var d Document
	for _, v := range []Violation{
		{Property: checker.Exclusion, Lock: "a", Counterexample: Counterexample{Seed: 7}},
		{Property: checker.Exclusion, Lock: "b", Counterexample: Counterexample{Seed: 3}},
		{Property: checker.Exclusion, Lock: "c", Counterexample: Counterexample{Seed: 3}},
	} {
		d.violation(v)
	}
	if len(d.Violations) != 1 || d.Violations[0].Lock != "b" {
		t.Errorf("%+v", d.Violations)
	}
}

// For each property a document shows a newly broken promise rather than other
// violations.
func TestAPromiseIsShownBeforeWhatNobodyPromised(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		all := cells("violated", "violated", "violated")
		all.Cells[0].Promises = checker.Promise{checker.Ownership} // and exclusion is not promised
		all.Cells[1].Properties[0].Known = true
		all.Cells[2].Properties[0].Seed, all.Cells[2].Seed = 7, 7
		d := &Document{Head: all.Head}
		for _, i := range order {
			d.Cells = append(d.Cells, all.Cells[i])
		}
		d.Decide()
		if len(d.Violations) != 1 || d.Violations[0].Cell != "cell 3" || d.Verdict != Violated {
			t.Errorf("%v: %+v", order, d.Violations)
		}
	}
}

func TestCellsThatWereCutShortAreCounted(t *testing.T) {
	d := cells("valid", "nothing", "nothing")
	d.Cells[0].Cut = "an error ended it"
	want := []string{"1 cell of 3 ended before all runs were done: an error ended it", "2 cells of 3 ended before all runs were done: time was over"}
	if got := d.Cuts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A verdict on which the two judges disagree is never a success, whatever is promised,
// and no other shard can change that.
func TestADisagreementOfTheJudgesIsNoSuccess(t *testing.T) {
	for name, disagree := range map[string]func(*Cell){
		"on a sampled run":        func(c *Cell) { c.Porcupine = &checker.Second{Agreed: 3, Disagreed: 1} },
		"on a reported violation": func(c *Cell) { c.Properties[0].Counterexample = &Counterexample{Porcupine: checker.Disagreed} },
		"on what nobody promised": func(c *Cell) {
			c.Porcupine, c.Promises = &checker.Second{Disagreed: 1}, checker.Promise{checker.Exclusion}
		},
		"in one of several shards": func(c *Cell) { c.add(&Cell{Name: c.Name, On: "sim", Porcupine: &checker.Second{Disagreed: 1}}) },
	} {
		d := cells("valid", "valid")
		d.Cells[0].On = "sim"
		d.Decide()
		if d.Verdict != Held {
			t.Fatalf("without a disagreement it is %s: %s", d.Verdict, d.Reason)
		}
		disagree(&d.Cells[0])
		d.Shards = &Shards{Of: 2, Have: []int{1}, Missing: []int{2}}
		d.Decide()
		if c := d.Cells[0]; c.Verdict != Inconclusive || d.ExitCode != 2 || c.Reason != "the judges disagree on 1 verdict, which is a bug in lockcheck" {
			t.Errorf("%s: the cell is %s (%s), and the exit code %d", name, c.Verdict, c.Reason, d.ExitCode)
		}
	}
}
