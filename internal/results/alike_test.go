package results

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// In a suite, the baseline knows only violations of the same lock with the same
// settings. A violation in another cell of that name is new, and the old one is not
// gone.
func TestABaselineKnowsNoOtherCellOfThatName(t *testing.T) {
	for name, change := range map[string]func(*Cell){
		"another lock":   func(c *Cell) { c.Lock = "b" },
		"other settings": func(c *Cell) { c.Settings = "sha256:2" },
	} {
		for _, word := range []string{"violated", "valid"} {
			past, now := cells("violated"), cells(word)
			past.Cells[0].Settings, now.Cells[0].Settings = "sha256:1", "sha256:1"
			past.Decide()
			change(&now.Cells[0])
			now.Against("baseline.json", past)
			now.Decide()
			b := now.Baseline
			if len(b.Known)+len(b.Gone) > 0 || len(b.Unseen) != 1 || (len(b.New) == 1) != (word == "violated") {
				t.Errorf("%s, now %s: %s", name, word, text(b))
			}
			if fresh, known := now.BrokenPromises(); known != 0 || (fresh == 1) != (word == "violated") {
				t.Errorf("%s, now %s: %d new and %d known", name, word, fresh, known)
			}
		}
	}
}

// The kept counterexample of a cell is known through the earlier cell. The cell itself
// has other settings now, so its violation is new.
func TestWhatIsKnownOfTheFormerCellHidesNothingOfThisOne(t *testing.T) {
	past, now := cells("violated"), cells("violated", "violated")
	past.Cells[0].Settings = "sha256:1"
	kept, c := &now.Cells[0], &now.Cells[1]
	kept.Name, kept.Kept, kept.Of, kept.Settings = "regressions/a", true, "cell 1", "sha256:1"
	c.Name, c.Settings = "cell 1", "sha256:2"
	now.Against("baseline.json", past)
	now.Decide()
	if kept.Verdict != Known || c.Verdict != Violated || now.Verdict != Violated {
		t.Errorf("%s, %s: %s", kept.Verdict, c.Verdict, now.Verdict)
	}
	if fresh, known := now.BrokenPromises(); fresh != 1 || known != 0 {
		t.Errorf("%d new and %d known", fresh, known)
	}
}

// Shards that disagree about the faults that apply lose no violation.
func TestAViolationOfACellThatDoesNotApplyElsewhereIsNotLost(t *testing.T) {
	a, b := shard(1), shard(2)
	a.Cells[0].Verdict, a.Cells[0].Reason = NotApplicable, "no libfaketime"
	a.Decide()
	violate(b, checker.Exclusion)
	b.Decide()
	if _, _, err := Choose(sources(a, b)); err == nil {
		t.Error("they are joined")
	}
}
