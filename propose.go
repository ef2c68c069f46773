package lockcheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// row is what the runs under one fault showed of each property.
type row struct {
	fault    string
	runs     int
	outcomes map[checker.Property]checker.Outcome
	tested   map[checker.Property]bool // some run could have broken it
}

// reached keeps what the runs under a fault showed.
func (x *suite) reached(f faults.Fault, r *explore.Result) {
	o := row{cmp.Or(f.Name, none), r.Runs, map[checker.Property]checker.Outcome{}, map[checker.Property]bool{}}
	for _, p := range checker.Properties {
		o.outcomes[p] = r.Outcome(p)
	}
	for _, pair := range r.Tested() {
		o.tested[pair.Property] = true
	}
	x.table = append(x.table, o)
}

// propose fails a test without a promise, and says which promise the runs support.
func (x *suite) propose() {
	x.t.Helper()
	var kept []string
	var lines []string
	for _, p := range checker.Properties {
		is := func(out checker.Outcome) (list []string) {
			for _, o := range x.table {
				if o.outcomes[p] == out {
					list = append(list, o.fault)
				}
			}
			return list
		}
		tested := slices.ContainsFunc(x.table, func(o row) bool { return o.tested[p] })
		var words string
		switch broken := is(checker.Violated); {
		case len(broken) > 0:
			words = "violated under " + strings.Join(broken, ", ")
		case len(is(checker.Unknown)) > 0:
			words = "unknown under " + strings.Join(is(checker.Unknown), ", ")
		case len(is(checker.NA)) == len(x.table):
			words = "does not apply"
		case !tested:
			words = "held, but no run could have broken it"
		default:
			words = "held"
			kept = append(kept, fmt.Sprintf("%q", p))
		}
		lines = append(lines, fmt.Sprintf("  %-16s %s", p, words))
	}
	add := "No property held under all of these faults: choose some with lockcheck.Faults."
	if kept != nil {
		add = "The promise that these runs support:\n\n  lockcheck.Promise(" + strings.Join(kept, ", ") + ")"
	}
	x.t.Fatalf("lockcheck: the test makes no promise, so nothing can be wrong. What the runs showed:\n\n%s\n\n%s",
		strings.Join(lines, "\n"), add)
}
