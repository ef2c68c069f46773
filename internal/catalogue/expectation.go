package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// Code is a way in which a lock breaks, as the tables write it.
type Code string

// The codes.
const (
	Safe         Code = "S"  // nothing goes wrong
	Overlap      Code = "U"  // two hold at once: a defect, or durability that is missing
	LeaseOverlap Code = "Uf" // broken in the way that is inherent to leases: safe with fencing only
	Stolen       Code = "R"  // a release frees somebody else's lock
	Starved      Code = "L"  // somebody waits for ever
	Slow         Code = "l"  // a slow hand-over
	Unfair       Code = "F"  // the order of the queue is broken, where the lock promises it
)

// CodeMeaning is the meaning of a code.
type CodeMeaning struct {
	Code       Code
	Means      string
	Properties []checker.Property // properties that are violated where the code is found
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

// Properties returns the properties that are violated where c is found. Grants
// without a lease have no lease-exclusion: for them U is exclusion alone.
func (c Code) Properties() []checker.Property {
	for _, k := range Codes {
		if k.Code == c {
			return k.Properties
		}
	}
	return nil
}

// Expectation is the expected result of a lock under a fault: the codes that a search
// must find, and the codes that it may find. All other codes are errors.
type Expectation struct {
	Of    string // the lock whose cell this is: the requested one, or the one that it is like
	Codes string // as the table writes it: "U R? answers?"
	Must  []Code
	May   []checker.Property // everything that may be violated, including Must
	Why   string             // the mechanism, unless it is obvious
}

// Holds reports whether no code has to be found.
func (e *Expectation) Holds() bool { return len(e.Must) == 0 }

// Names reports whether c has to be found, or may be.
func (e *Expectation) Names(c Code) bool {
	return slices.ContainsFunc(strings.Fields(e.Codes), func(field string) bool { return strings.TrimSuffix(field, "?") == string(c) })
}

// HoldsSlowly reports whether nothing but a slow hand-over has to be found.
func (e *Expectation) HoldsSlowly() bool {
	return !slices.ContainsFunc(e.Must, func(c Code) bool { return c != Slow })
}

// Columns returns the columns of the table: no fault, the workloads with misbehaving
// clients and no fault, by name, and every fault.
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

// Columns returns the columns in which a lock has a cell: none, the workloads with an
// expectation for it, and the faults that apply to it.
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

// Expect returns the expectation for a lock in a column of the table: its own cell,
// or else that of the lock that it is like.
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
	return Expectation{}, fmt.Errorf("nothing is known of %s under %s: it has no cell in internal/catalogue/truth.go", lock, fault)
}

// parse reads codes, each at most once, with ? if the code is optional. Further
// properties that may be violated are written by name, also with ?.
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
		case Overlap, LeaseOverlap, Stolen: // the guarded data is at stake
			may[checker.Resource] = true
		case Starved: // a client that waits for ever also waits too long
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
