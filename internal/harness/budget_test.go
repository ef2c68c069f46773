package harness

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// spentEnvironment records which budget was used up.
type spentEnvironment struct {
	env.Simulation // for methods that the test does not call
	spent          []string
}

func (p *spentEnvironment) Now() time.Duration { return 0 }
func (p *spentEnvironment) Spend(words string) { p.spent = append(p.spent, words) }

// The memory of a run is bounded, too: by the lines of its history.
func TestAHistoryHasABudgetOfLines(t *testing.T) {
	environment := new(spentEnvironment)
	r := &recorder{begun: true, environment: environment}
	r.history.Entries = make([]history.Entry, mostEntries-1, mostEntries+1)
	if r.next(); len(environment.spent) != 0 {
		t.Errorf("used up after %d lines: %q", len(r.history.Entries), environment.spent)
	}
	if r.next(); len(environment.spent) != 1 || environment.spent[0] != "1,000,000 recorded lines" {
		t.Errorf("after %d lines: %q", len(r.history.Entries), environment.spent)
	}
}
