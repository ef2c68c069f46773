package explore

import (
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
)

// A Pair is a kind of fault, or checker.NoFault, and a property.
type Pair struct {
	Fault    string
	Property checker.Property
}

// Hazard returns the situation that could have broken the property under the fault.
func (p Pair) Hazard() *checker.Hazard { return checker.HazardOf(p.Fault, p.Property) }

// Kinds returns the kinds of faults that were drawn, in the order of faults.All, and
// checker.NoFault if there were runs without a fault, or no runs.
func (r *Result) Kinds() (list []string) {
	for _, f := range faults.All() {
		if r.Drawn[f.Name] > 0 {
			list = append(list, f.Name)
		}
	}
	if list == nil || r.Hazards[checker.NoFault] != nil {
		list = append(list, checker.NoFault)
	}
	return list
}

// Reach returns in how many runs the hazard of a pair was reached.
func (r *Result) Reach(p Pair) int {
	h := r.Hazards[p.Fault]
	if h == nil {
		return 0
	}
	return h[slices.Index(checker.Properties[:], p.Property)]
}

// Untested returns the pairs of a drawn kind of fault and a valid property that no run
// could have broken: its validity proves nothing.
func (r *Result) Untested() []Pair { return r.pairs(false) }

// Tested returns the other pairs of a drawn kind and a valid property.
func (r *Result) Tested() []Pair { return r.pairs(true) }

func (r *Result) pairs(tested bool) (list []Pair) {
	for _, kind := range r.Kinds() {
		for _, p := range checker.Properties {
			if pair := (Pair{kind, p}); r.Outcome(p) == checker.Valid && (r.Reach(pair) > 0) == tested {
				list = append(list, pair)
			}
		}
	}
	return list
}
