package cases

import (
	"cmp"
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
)

// mostUnexpected limits the list of cases that did not behave as documented: the
// summary stays below 25 lines.
const mostUnexpected = 8

// AsDocumented reports whether a case and its remedy behaved as documented. A remedy
// counts only if it can be run.
func (c *Result) AsDocumented() bool {
	return c.Reproduced && (c.Remedy == "valid" || c.Remedy == "none")
}

// skipped reports whether the case cannot be shown in its environment.
func (c *Result) skipped() bool { return !c.Reproduced && c.LeaseMS == 0 }

// caseCounts counts the cases of one store by their outcome.
type caseCounts struct{ broke, held, measured, other, skipped int }

func (n *caseCounts) add(c *Result) {
	switch kind := catalogue.Kind(c.Kind); {
	case c.skipped():
		n.skipped++
	case !c.AsDocumented():
		n.other++
	case kind == catalogue.Control:
		n.held++
	case kind == catalogue.Figures:
		n.measured++
	default:
		n.broke++
	}
}

// caseSummary prints the outcomes of all cases by store, in at most 25 lines.
func (to *Stage) caseSummary(on string, cases []Result) {
	counts := map[catalogue.Store]*caseCounts{}
	failures, remedies, kept := 0, 0, 0
	for i := range cases {
		c := &cases[i]
		lock, _ := catalogue.FindLock(c.Lock)
		counts[lock.Store] = cmp.Or(counts[lock.Store], new(caseCounts))
		counts[lock.Store].add(c)
		if c.skipped() || c.Kind == string(catalogue.Control) {
			continue
		}
		if failures++; c.Remedy != "none" {
			remedies++
		}
		if c.Remedy == "valid" {
			kept++
		}
	}
	to.Heading(fmt.Sprintf("%s on %s", names.Count(len(cases), "documented case"), on))
	to.Printf("  %-11s%21s%21s%10s%14s\n", "", "broke as documented", "held as documented", "measured", "anything else")
	for store := range catalogue.StoreMySQL + 1 {
		if n := counts[store]; n != nil {
			to.Printf("  %-11s%21d%21d%10d%14d\n", store, n.broke, n.held, n.measured, n.other)
		}
	}
	to.Printf("\n")
	sign, times := checker.Valid, "each time"
	if kept < remedies {
		sign, times = checker.Violated, fmt.Sprintf("in %d of them", kept)
	}
	to.Paragraph(2, fmt.Sprintf("%s %d of the %d failures have a remedy that can be run: under the same schedule it kept its promise %s.",
		to.Sign(sign), remedies, failures, times))
	to.unexpectedCases(on, cases)
	to.Printf("\n")
	to.Paragraph(9, "Stories  lockcheck case --all prints every story, lockcheck case ID one of them; lockcheck list cases lists the IDs")
	to.Paragraph(9, "Yours    lockcheck init writes what you need to test your own lock; a lock in Go needs go test only (docs/go-test.md)")
	to.Printf("\n")
}

// unexpectedCases lists the cases that did not behave as documented, and counts those
// that cannot be shown here.
func (to *Stage) unexpectedCases(on string, cases []Result) {
	skipped, listed := 0, 0
	for i := range cases {
		c := &cases[i]
		switch {
		case c.skipped():
			skipped++
		case c.AsDocumented():
		case listed == mostUnexpected:
			to.Paragraph(2, "  … and more: lockcheck case --all")
			listed++
		case listed < mostUnexpected:
			listed++
			to.Printf("%s\n", layout.Clip(fmt.Sprintf("%s %s: %s", to.Sign(checker.Violated), c.ID, cmp.Or(c.Reason, "its remedy did not hold")), layout.Columns))
		}
	}
	if skipped > 0 {
		to.Paragraph(2, fmt.Sprintf("- %s cannot be shown on %s (see: lockcheck list cases)", names.Count(skipped, "case"), on))
	}
}
