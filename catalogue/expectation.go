package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// Code is a way in which a lock breaks, as tables write it.
type Code string

// The codes.
const (
	Safe         Code = "S"  // nothing goes wrong
	Overlap      Code = "U"  // mutual exclusion broken: a defect, or durability that is missing
	LeaseOverlap Code = "Uf" // broken in the way that is inherent to leases: safe with fencing only
	Stolen       Code = "R"  // a release frees somebody else's lock
	Starved      Code = "L"  // somebody waits, and nobody is ever granted it
	Slow         Code = "l"  // a slow hand-over
	Unfair       Code = "F"  // the order of the queue is broken, where the lock promises it
)

// CodeMeaning is what a code stands for.
type CodeMeaning struct {
	Code       Code
	Means      string
	Properties []checker.Property // that are violated where it is found
}

// Codes are all codes, in the order in which they are shown.
var Codes = []CodeMeaning{
	{Safe, "safe", nil},
	{Overlap, "two hold at once", []checker.Property{checker.Exclusion, checker.LeaseExclusion}},
	{LeaseOverlap, "two hold at once, one of them beyond its lease", []checker.Property{checker.Exclusion}},
	{Stolen, "a release frees another's lock", []checker.Property{checker.Ownership}},
	{Starved, "somebody waits for ever", []checker.Property{checker.Liveness}},
	{Slow, "a slow hand-over", []checker.Property{checker.Handover}},
	{Unfair, "the order of the queue is broken", []checker.Property{checker.Fairness}},
}

// Properties are those that are violated where c is found. Grants without a
// lease have no lease-exclusion: there U is exclusion alone.
func (c Code) Properties() []checker.Property {
	for _, k := range Codes {
		if k.Code == c {
			return k.Properties
		}
	}
	return nil
}

// Expectation is what is known of a lock under a fault: what is found when one
// looks, what may be, and that nothing else is.
type Expectation struct {
	Of    string // the lock that it is known of: the one that was asked for, or the one that this is like
	Codes string // as the table writes it: "U R? answers?"
	Must  []Code
	May   []checker.Property // all that may be violated, those of Must included
	Why   string             // the mechanism, where it does not speak for itself
}

// Holds tells whether nothing has to be found.
func (e *Expectation) Holds() bool { return len(e.Must) == 0 }

// Names tells whether c is found, or may be.
func (e *Expectation) Names(c Code) bool {
	return slices.ContainsFunc(strings.Fields(e.Codes), func(field string) bool { return strings.TrimSuffix(field, "?") == string(c) })
}

// HoldsSlowly tells whether nothing has to be found but a slow hand-over.
func (e *Expectation) HoldsSlowly() bool {
	return !slices.ContainsFunc(e.Must, func(c Code) bool { return c != Slow })
}

// Columns are the columns of the table: no fault, what clients do otherwise than
// they should while there is none, by the names of workloads, and every fault.
func Columns() []string {
	names := []string{NoFault}
	for _, w := range workloads.Misuses() {
		names = append(names, w.Name)
	}
	for _, f := range faults.All() {
		names = append(names, f.Name)
	}
	return names
}

// Columns are those of the table in which a lock has a cell: none, the workloads
// that something is known of, and the faults that apply to it.
func (l *Lock) Columns() []string {
	return slices.DeleteFunc(Columns(), func(name string) bool {
		if f, ok := faults.Find(name); ok {
			return l.Applies(f, Server{}) != nil
		}
		if w, ok := workloads.Find(name); ok {
			_, err := Expect(l.ID, name)
			return l.Takes(w) != nil || err != nil
		}
		return false
	})
}

// Expect is what is expected of a lock in a column of the table: what is
// known of it, or else of the lock that it is like.
func Expect(lock, fault string) (Expectation, error) {
	for id := lock; id != ""; {
		for _, c := range truth[id] {
			if slices.Contains(strings.Fields(c.faults), fault) {
				e, err := parse(c.codes)
				e.Of, e.Why = id, c.why
				return e, err
			}
		}
		l, _ := FindLock(id)
		id = l.Like
	}
	return Expectation{}, fmt.Errorf("nothing is known of %s under %s: it has no cell in catalogue/truth.go", lock, fault)
}

// parse reads codes, each of them once, with ? where it may be found. A property
// that may be violated besides is named, with ? as well.
func parse(codes string) (Expectation, error) {
	e := Expectation{Codes: codes}
	fields := strings.Fields(codes)
	may := map[checker.Property]bool{}
	seen := map[string]bool{}
	for _, field := range fields {
		name, perhaps := strings.CutSuffix(field, "?")
		c, p := Code(name), checker.Property(name)
		named := slices.Contains(checker.Properties[:], p)
		switch {
		case seen[name]:
			return e, fmt.Errorf("codes %q: %s is there twice", codes, name)
		case c == Safe && (perhaps || len(fields) > 1):
			return e, fmt.Errorf("codes %q: %s stands alone", codes, Safe)
		case named && !perhaps:
			return e, fmt.Errorf("codes %q: %s may be violated at most, %s?; what must be found has a code", codes, name, name)
		case !named && c != Safe && c.Properties() == nil:
			return e, fmt.Errorf("codes %q: there is no code %q", codes, name)
		}
		seen[name] = true
		if !perhaps && c != Safe {
			e.Must = append(e.Must, c)
		}
		if named {
			may[p] = true
		}
		for _, p := range c.Properties() {
			may[p] = true
		}
		switch c {
		case Overlap, LeaseOverlap, Stolen: // what was guarded is at stake
			may[checker.Resource] = true
		case Starved: // who waits for ever waits for long
			may[checker.Handover] = true
		}
	}
	switch {
	case len(fields) == 0:
		return e, fmt.Errorf("no codes; %s is safe", Safe)
	case seen[string(Overlap)] && seen[string(LeaseOverlap)]:
		return e, fmt.Errorf("codes %q: %s says more than %s", codes, Overlap, LeaseOverlap)
	}
	for _, p := range checker.Properties {
		if may[p] {
			e.May = append(e.May, p)
		}
	}
	return e, nil
}
