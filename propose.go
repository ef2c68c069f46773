package lockcheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// row is what the runs under one fault showed of each property.
type row struct {
	fault    string
	runs     int
	granted  bool // some client got the lock
	outcomes map[checker.Property]checker.Outcome
	tested   map[checker.Property]bool // some run could have broken it
}

// reached keeps what the runs under a fault showed.
func (x *suite) reached(f faults.Fault, r *explore.Result) {
	o := row{cmp.Or(f.Name, none), r.Runs, r.Reached[checker.Grants] > 0, map[checker.Property]checker.Outcome{}, map[checker.Property]bool{}}
	for _, p := range checker.Properties {
		o.outcomes[p] = r.Outcome(p)
	}
	for _, pair := range r.Tested() {
		o.tested[pair.Property] = true
	}
	x.table = append(x.table, o)
}

// propose fails a test without a promise, and says which promise the runs support: a test
// that makes it passes.
func (x *suite) propose() {
	x.t.Helper()
	if !slices.ContainsFunc(x.table, func(o row) bool { return o.granted }) {
		x.t.Fatalf("lockcheck: no client ever got the lock in %s under each fault", x.runs())
	}
	var kept []string
	var lines []string
	for _, p := range checker.Properties {
		words, keep := x.shown(p)
		if keep {
			kept = append(kept, fmt.Sprintf("%q", p))
		}
		lines = append(lines, fmt.Sprintf("  %-16s %s", p, words))
	}
	add := "No property held, and was tested, under all of these faults: choose some with lockcheck.Faults."
	if kept != nil {
		add = "The promise that these runs support:\n\n  lockcheck.Promise(" + strings.Join(kept, ", ") + ")"
	}
	if strings.Contains(strings.Join(lines, ""), unbroken) {
		add += "\n\nA property that no run could have broken is not proposed: do more runs, or choose other faults."
	}
	x.t.Fatalf("lockcheck: the test makes no promise, so nothing can be wrong. What %s under each fault showed:\n\n%s\n\n%s",
		x.runs(), strings.Join(lines, "\n"), add)
}

// runs says how many runs each fault had: "100 runs", or "57 to 100 runs".
func (x *suite) runs() string {
	least, most := x.table[0].runs, x.table[0].runs
	for _, o := range x.table {
		least, most = min(least, o.runs), max(most, o.runs)
	}
	if least == most {
		return names.Count(most, "run")
	}
	return fmt.Sprintf("%s to %s", names.Thousands(least), names.Count(most, "run"))
}

const unbroken = ", but no run could have broken it"

// shown says what the runs showed of a property, and whether they support its promise.
func (x *suite) shown(p checker.Property) (words string, keep bool) {
	under := func(is func(row) bool) (list []string) {
		for _, o := range x.table {
			if is(o) {
				list = append(list, o.fault)
			}
		}
		return list
	}
	of := func(out checker.Outcome) []string {
		return under(func(o row) bool { return o.outcomes[p] == out })
	}
	untested := under(func(o row) bool { return !o.tested[p] })
	switch violated, unknown, na := of(checker.Violated), of(checker.Unknown), of(checker.NA); {
	case len(violated) > 0:
		return "violated under " + strings.Join(violated, ", "), false
	case len(unknown) > 0:
		return "unknown under " + strings.Join(unknown, ", "), false
	case len(na) == len(x.table):
		return "does not apply", false
	case len(untested) == len(x.table):
		return "held" + unbroken, false
	case len(untested) > 0:
		return "held" + unbroken + " under " + strings.Join(untested, ", "), false
	}
	return "held", true
}
