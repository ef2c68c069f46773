package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/results"
)

// matrixOutcome is a matrix that was gone through.
type matrixOutcome struct {
	cells  []matrixCell
	absent []noCell
	flags  matrixFlags
	place  string
	lease  time.Duration
	took   time.Duration
	left   int // cells that were not begun
	head   results.Head
	table  []string // of shards: the names of all cells
	// trouble is why not all was done, other than that somebody ended it; nil: there
	// was none.
	trouble error
}

// standings are how cells are shown, the ones that need a look first. A sign
// says it all; colour only helps.
var standings = []struct {
	standing explore.Standing
	sign     string
	colour   string
	means    string
	code     int
}{
	{explore.Unexpected, "✗", "31", "found, and not expected", violated},
	{explore.Missing, "○", "31", "expected, and not found", violated},
	{explore.Unproven, "?", "33", "proves nothing", unproven},
	{explore.NotShown, "~", "33", "not shown in the time there was", held},
	{explore.AsExpected, "✓", "32", "as expected", held},
}

func (m *matrixOutcome) count(s explore.Standing) (n int) {
	for i := range m.cells {
		if m.cells[i].Standing == s {
			n++
		}
	}
	return n
}

// code is the exit code.
func (m *matrixOutcome) code() int {
	code := held
	for _, s := range standings {
		if m.count(s.standing) > 0 {
			code = worse(code, s.code)
		}
	}
	if s := m.head.Shards; s != nil && len(s.Missing)+len(s.Cut) > 0 {
		code = worse(code, unproven)
	}
	if m.left > 0 || m.head.Interrupted || len(m.cells) == 0 && !m.elsewhere() {
		code = worse(code, unproven)
	}
	return worse(code, codeFor(m.trouble))
}

// elsewhere tells whether all cells are those of other shards.
func (m *matrixOutcome) elsewhere() bool {
	return m.trouble == nil && len(m.cells) == 0 && m.left == 0 && m.head.Shards != nil && len(m.table) > 0
}

// verdict is what the cells say, for machines.
func (m *matrixOutcome) verdict() (v results.Verdict, code int, reason string) {
	switch code = m.code(); {
	case m.elsewhere():
		return results.Elsewhere, code, "no cell falls to this shard"
	case code == noPlace:
		return results.Unavailable, code, m.trouble.Error()
	case m.count(explore.Unexpected)+m.count(explore.Missing) > 0: // though its files could not be written
		return results.Violated, code, ""
	case m.trouble != nil:
		return results.Inconclusive, code, firstLine(m.trouble.Error())
	case code == unproven:
		return results.Inconclusive, code, cmp.Or(m.head.Shards.Incomplete(), strings.TrimSuffix(m.sum(), "."))
	}
	return results.Held, code, ""
}

// runs of all cells.
func (m *matrixOutcome) runs() (n int) {
	for i := range m.cells {
		n += m.cells[i].result.Runs
	}
	return n
}

// locks and faults of the cells, and of those that there are none for, in their order.
func (m *matrixOutcome) names() (locks, faults []string) {
	for i := range m.cells {
		c := &m.cells[i]
		if !slices.Contains(locks, c.Lock) {
			locks = append(locks, c.Lock)
		}
	}
	for _, n := range m.absent {
		if !slices.Contains(locks, n.lock) {
			locks = append(locks, n.lock)
		}
	}
	for _, name := range catalogue.Columns() {
		if slices.ContainsFunc(m.cells, func(c matrixCell) bool { return c.Fault == name }) ||
			slices.ContainsFunc(m.absent, func(n noCell) bool { return n.fault == name }) {
			faults = append(faults, name)
		}
	}
	return locks, faults
}

func (m *matrixOutcome) cell(lock, fault string) *matrixCell {
	i := slices.IndexFunc(m.cells, func(c matrixCell) bool { return c.Lock == lock && c.Fault == fault })
	if i < 0 {
		return nil
	}
	return &m.cells[i]
}

// notApplicable is what the table has where a fault does not apply.
const notApplicable = "n/a"

// text is the cell of a lock and a fault in the table, and its sign, which is
// part of it; "": there is none.
func (m *matrixOutcome) text(lock, fault string) (sign, rest string) {
	if c := m.cell(lock, fault); c != nil {
		return c.short()
	}
	if slices.ContainsFunc(m.absent, func(n noCell) bool { return n.lock == lock && n.fault == fault }) {
		return "", notApplicable
	}
	return "", ""
}

// seed of a run of the cell, from 0.
func (m *matrixCell) seed(run int) uint64 { return m.Seed + uint64(run) }

// found are the codes that the runs show, of U and Uf one. Where no grant says
// how long it lasts the runs cannot tell these two apart: there it is Uf if that
// is expected.
func (m *matrixCell) found() (codes []catalogue.Code) {
	not := catalogue.LeaseOverlap
	if m.result.Outcome(checker.LeaseExclusion) == checker.NA && m.Expect.Names(not) {
		not = catalogue.Overlap
	}
	for _, k := range catalogue.Codes {
		if m.result.Found(k.Code) && (k.Code != not || !m.result.Found(catalogue.Overlap)) {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

// shown are the codes of the cell in the table: those that are missing, or that
// were found. A slow hand-over, which most faults bring, is there only where
// nothing else is.
func (m *matrixCell) shown() []catalogue.Code {
	if m.Standing == explore.Missing || m.Standing == explore.NotShown {
		return m.Missing
	}
	list := m.found()
	if n := len(list); n > 1 && list[n-1] == catalogue.Slow {
		list = list[:n-1]
	}
	return list
}

// more tells whether none of the codes says what was not expected.
func (m *matrixCell) more() bool {
	return m.Standing == explore.Unexpected && !slices.ContainsFunc(m.shown(), func(c catalogue.Code) bool {
		return slices.ContainsFunc(c.Properties(), func(p checker.Property) bool { return slices.Contains(m.Unexpected, p) })
	})
}

// short is the cell in the table: its sign, and what it is about.
func (m *matrixCell) short() (sign, codes string) {
	for _, s := range standings {
		if s.standing == m.Standing {
			sign = s.sign
		}
	}
	codes = joined(m.shown(), "")
	if m.more() {
		codes += "+"
	}
	return sign, codes
}

func joined[T ~string](list []T, between string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, between)
}

// done is what the cell went through.
func (m *matrixCell) done() string {
	words := fmt.Sprintf("%s, %s", plural(m.result.Runs, "run"), plural(m.result.Reached[checker.Grants], "grant"))
	if disturbs(m.Fault) {
		switch n := m.result.Reached[checker.FaultTouched]; n {
		case 0:
			words += fmt.Sprintf(", %s never hit", m.Fault)
		default:
			words += fmt.Sprintf(", %s hit %s", m.Fault, plural(n, "time"))
		}
	}
	return words
}

// does are the fault of a cell and what its clients do, if that is not the usual:
// its runs are kept below a directory of that name.
func does(c *explore.Cell) (fault, workload string) {
	if disturbs(c.Fault) || c.Fault == catalogue.NoFault {
		return c.Fault, ""
	}
	return catalogue.NoFault, c.Fault
}

// again is the command that shows the cell again.
func (m *matrixCell) again(o *matrixOutcome) string {
	var b strings.Builder
	fault, workload := does(m.Cell)
	fmt.Fprintf(&b, "%s run %s --fault %s", program(), m.Lock, fault)
	if workload != "" {
		fmt.Fprintf(&b, " --workload %s", workload)
	}
	if o.place != "sim" {
		fmt.Fprintf(&b, " --on %s", o.place)
	}
	if o.flags.place.lease != 0 {
		fmt.Fprintf(&b, " --lease %v", o.flags.place.lease)
	}
	if m.Standing == explore.Unexpected {
		run, _ := first(m.result, m.Unexpected)
		fmt.Fprintf(&b, " --seed %d --runs 1", m.seed(run))
	} else {
		fmt.Fprintf(&b, " --seed %d --runs %d", m.Seed, max(1, m.result.Runs))
	}
	return b.String()
}

// mustHold tells whether a cell is one of those that were run for that.
func (m *matrixOutcome) mustHold(c *matrixCell) bool {
	return c.Expect.Holds() || m.flags.holding && c.Expect.HoldsSlowly()
}

// sum is the matrix in a sentence or two.
func (m *matrixOutcome) sum() string {
	var parts []string
	for _, s := range standings {
		if n := m.count(s.standing); n > 0 {
			parts = append(parts, thousands(n)+" "+strings.ReplaceAll(s.standing.String(), "-", " "))
		}
	}
	hold, least, most := 0, 0, 0
	for i := range m.cells {
		if c := &m.cells[i]; m.mustHold(c) && c.Standing == explore.AsExpected {
			if hold == 0 || c.result.Runs < least {
				least = c.result.Runs
			}
			most = max(most, c.result.Runs)
			hold++
		}
	}
	words := fmt.Sprintf("%s: %s", plural(len(m.cells), "cell"), strings.Join(parts, ", "))
	if m.elsewhere() {
		return "No cell falls to this shard."
	} else if len(m.cells) == 0 {
		words = "No cell was begun"
	} else if m.left > 0 {
		words += "; " + notBegun(m.left)
	}
	if hold > 0 {
		runs := plural(least, "run")
		if least < most {
			runs = thousands(least) + " to " + plural(most, "run")
		}
		words += fmt.Sprintf(". %s must hold%s, and did, in %s each", thousands(hold), map[bool]string{true: ", a slow hand-over aside"}[m.flags.holding], runs)
	}
	return words + fmt.Sprintf(". %s in %.1f s.", plural(m.runs(), "run"), m.took.Seconds())
}
