package results

import (
	"reflect"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// A cell keeps the mechanisms of a result, and two shards of a cell add them up.
func TestMechanismsOfACell(t *testing.T) {
	t.Parallel()
	const pause, hang = "exclusion:entry-expired:pause", "exclusion:entry-expired:hang"
	cell := func(list ...explore.Sighting) Cell {
		r := explore.NewResult()
		r.Runs = 10
		for _, m := range list {
			tally := r.Outcomes[m.Mechanism.Property()]
			if tally.Count[checker.Violated] == 0 || m.First < tally.First[checker.Violated] {
				tally.First[checker.Violated] = m.First
			}
			tally.Count[checker.Violated] += m.Count
		}
		r.Mechanisms = list
		c := Cell{Name: "a", Seed: 100}
		c.Take(r)
		return c
	}
	one := cell(explore.Sighting{Mechanism: pause, Count: 3, First: 2})
	if _, tell := one.Mechanisms(); tell {
		t.Error("one mechanism says nothing that its property does not say")
	}
	two := cell(explore.Sighting{Mechanism: pause, Count: 2, First: 1}, explore.Sighting{Mechanism: hang, Count: 1, First: 7, LeftOut: true})
	one.add(&two)
	list, tell := one.Mechanisms()
	if want := []Mechanism{{hang, 1, 107, true}, {pause, 5, 101, false}}; !tell || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	if p := one.Property(checker.Exclusion); p.LeftOut() != 1 {
		t.Errorf("%d runs are left out, want 1", p.LeftOut())
	}
	one.Promises = checker.Promise{checker.Ownership}
	one.decide()
	if list, _ := one.Mechanisms(); list != nil {
		t.Errorf("of a property that is not promised: %+v", list)
	}
}
