package results

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// Mechanism is the number of runs that violated a property in one way.
type Mechanism struct {
	Name    checker.Mechanism `json:"mechanism"`          // property:cause:fault, see docs/shrinking.md
	Count   int               `json:"count"`              // how many runs
	Seed    uint64            `json:"seed"`               // the lowest seed of them
	LeftOut bool              `json:"left_out,omitempty"` // --not names it: its runs are in no other number of the property, and do not decide the exit code
}

// Mechanisms returns the mechanisms of the promised properties, the rarest first. tell
// reports whether they say more than the properties do: one was violated in several
// ways, or some are left out.
func (c *Cell) Mechanisms() (list []Mechanism, tell bool) {
	for _, p := range c.Properties {
		if !p.Promised {
			continue
		}
		tell = tell || len(p.Mechanisms) > 1 || slices.ContainsFunc(p.Mechanisms, func(m Mechanism) bool { return m.LeftOut })
		list = append(list, p.Mechanisms...)
	}
	slices.SortStableFunc(list, func(a, b Mechanism) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Seed, b.Seed))
	})
	return list, tell
}

// LeftOut returns how many runs violated the property by mechanisms that are left out.
func (p *PropertyResult) LeftOut() (n int) {
	for _, m := range p.Mechanisms {
		if m.LeftOut {
			n += m.Count
		}
	}
	return n
}
