package explore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
)

// Sighting counts the runs with one mechanism.
type Sighting struct {
	Mechanism checker.Mechanism
	Count     int
	First     int  // the lowest of these runs
	LeftOut   bool // Settings.Not names it
}

// leavesOut reports whether one of the names is m, or the beginning of m without the fault.
func leavesOut(names []checker.Mechanism, m checker.Mechanism) bool {
	return slices.ContainsFunc(names, func(n checker.Mechanism) bool {
		return m == n || strings.HasPrefix(string(m), string(n)+":")
	})
}

// Unseen returns the names of mechanisms to leave out that no violation has.
func (r *Result) Unseen() []checker.Mechanism {
	return slices.DeleteFunc(slices.Clone(r.Not), func(n checker.Mechanism) bool {
		return slices.ContainsFunc(r.Mechanisms, func(s Sighting) bool { return leavesOut([]checker.Mechanism{n}, s.Mechanism) })
	})
}

// Explain counts the mechanisms of the violations of run i; of returns the mechanism of
// a verdict. It returns the verdicts without the violations that are left out, for Count.
func (r *Result) Explain(i int, verdicts []checker.Verdict, of func(checker.Verdict) checker.Mechanism) []checker.Verdict {
	if r.Not != nil {
		verdicts = slices.Clone(verdicts) // the caller's stay as they are
	}
	return slices.DeleteFunc(verdicts, func(v checker.Verdict) bool {
		if !violated(v) {
			return false
		}
		s := Sighting{Mechanism: of(v), Count: 1, First: i}
		s.LeftOut = leavesOut(r.Not, s.Mechanism)
		r.Sight(s)
		return s.LeftOut
	})
}

// Sight adds runs with a mechanism.
func (r *Result) Sight(s Sighting) {
	at, seen := slices.BinarySearchFunc(r.Mechanisms, s, func(a, b Sighting) int { return cmp.Compare(a.Mechanism, b.Mechanism) })
	if !seen {
		r.Mechanisms = slices.Insert(r.Mechanisms, at, s)
		return
	}
	o := &r.Mechanisms[at]
	o.Count, o.First = o.Count+s.Count, min(o.First, s.First)
}

// Rarest returns the mechanisms, the rarest first: it is the most surprising one.
func (r *Result) Rarest() []Sighting {
	list := slices.Clone(r.Mechanisms)
	slices.SortFunc(list, func(a, b Sighting) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.First, b.First), cmp.Compare(a.Mechanism, b.Mechanism))
	})
	return list
}
