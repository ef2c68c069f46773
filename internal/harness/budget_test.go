package harness

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// spentPlace records which budget was used up.
type spentPlace struct {
	env.Environment // for methods that the test does not call
	spent           []string
}

func (p *spentPlace) Now() time.Duration { return 0 }
func (p *spentPlace) Spend(words string) { p.spent = append(p.spent, words) }

// The memory of a run is bounded, too: by the lines of its history.
func TestAHistoryHasABudgetOfLines(t *testing.T) {
	place := new(spentPlace)
	r := &recorder{begun: true, place: place}
	r.history.Entries = make([]history.Entry, mostEntries-1, mostEntries+1)
	if r.next(); len(place.spent) != 0 {
		t.Errorf("used up after %d lines: %q", len(r.history.Entries), place.spent)
	}
	if r.next(); len(place.spent) != 1 || place.spent[0] != "1,000,000 recorded lines" {
		t.Errorf("after %d lines: %q", len(r.history.Entries), place.spent)
	}
}
