package results

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// hazardsByName returns the counts of reached hazards in the form of documents.
func hazardsByName(r *explore.Result) map[string]map[checker.Property]int {
	all := map[string]map[checker.Property]int{}
	for kind, of := range r.Hazards {
		for i, p := range checker.Properties {
			if of[i] == 0 {
				continue
			}
			if all[kind] == nil {
				all[kind] = map[checker.Property]int{}
			}
			all[kind][p] = of[i]
		}
	}
	return all
}

// Hazard is a situation that could have broken some properties of a cell under a fault.
type Hazard struct {
	*checker.Hazard
	Fault      string
	Properties checker.Promise
	Runs       int // runs that reached it
}

// hazards joins the pairs that have the same fault and hazard.
func hazards(r *explore.Result, pairs []explore.Pair) (list []Hazard) {
	for _, p := range pairs {
		i := slices.IndexFunc(list, func(h Hazard) bool { return h.Fault == p.Fault && h.Hazard == p.Hazard() })
		if i < 0 {
			i, list = len(list), append(list, Hazard{Hazard: p.Hazard(), Fault: p.Fault, Runs: r.Reach(p)})
		}
		list[i].Properties = append(list[i].Properties, p.Property)
	}
	return list
}

// HazardsReached returns the hazards that the runs reached and that could have broken a
// kept promise.
func (c *Cell) HazardsReached() []Hazard {
	r := c.Result()
	return hazards(r, slices.DeleteFunc(r.Tested(), c.aside))
}

// aside reports whether a pair belongs to no promise.
func (c *Cell) aside(p explore.Pair) bool { return !c.Promises.Covers(p.Property) }

// untested returns the pairs of fault and property about which the runs prove nothing.
// A complete search leaves none. A kept counterexample leaves none either: it is enough
// that its faults hit something.
func (c *Cell) untested() []explore.Pair {
	if c.Bound != nil || c.Kept {
		return nil
	}
	return c.Result().Untested()
}

// NotTested says which promises of a cell were kept although no run could have broken
// them, and why. It returns "" without any.
func (c *Cell) NotTested() string {
	r := c.Result()
	return notTested(hazards(r, slices.DeleteFunc(c.untested(), c.aside)), len(r.Kinds()) > 1, true)
}

// notTested lists the hazards that were not reached, with their faults and properties if
// it is asked for them.
func notTested(list []Hazard, faults, properties bool) string {
	var parts []string
	for _, h := range list {
		part := h.Missing
		if faults {
			part = h.Fault + ": " + part
		}
		if properties {
			part += " (" + strings.Join(h.Properties.Strings(), ", ") + ")"
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return "not tested: " + strings.Join(parts, "; ")
}

// of returns the pairs with one property.
func of(pairs []explore.Pair, prop checker.Property) []explore.Pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(p explore.Pair) bool { return p.Property != prop })
}
