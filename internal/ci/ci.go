// Package ci writes a document for CI: as JUnit, as GitHub's annotations, and as the
// page of a GitHub job. It reads only the document, so that all of them have its
// verdict; callers pass in the stories.
package ci

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// Report is a document with a verdict, and data that is not in it.
type Report struct {
	*results.Document
	// Story returns the story of a counterexample, or "" if it has none. If Story is
	// nil, no counterexample has one.
	Story func(*results.Counterexample) string
	File  string // of the suite, from the root of the repository; "": no suite
	Rest  string // the place of the complete findings, for a page that has to be cut
	Ended error  // the error that ended it early, from the user or from lockcheck; nil: none
}

// matter is one reason why a document is not held.
type matter struct {
	verdict results.Verdict         // Violated, Unavailable or Inconclusive
	words   string                  // description
	cell    *results.Cell           // nil: it concerns more than one cell
	of      *results.PropertyResult // the violated property
}

// ended is the verdict for a command that an error ended early.
const ended results.Verdict = "error"

// gravity is the order of matters. Matters of the same gravity are in the order of the
// document: the reports of the shards of one exploration are easier to compare if their
// order is the same.
var gravity = []results.Verdict{
	results.Violated, ended, results.Unavailable, results.Inconclusive, results.Known, results.Held, results.NotApplicable, results.Elsewhere,
}

func graver(a, b results.Verdict) int {
	return cmp.Compare(slices.Index(gravity, a), slices.Index(gravity, b))
}

// matters returns all matters, the gravest first. It returns none if the document is
// held.
func (r *Report) matters() (list []matter) {
	for i := range r.Cells {
		c := &r.Cells[i]
		own := len(list)
		for j := range c.Properties {
			if p := &c.Properties[j]; broken(p) {
				list = append(list, matter{results.Violated, sentence(p), c, p})
			}
		}
		// The run whose story the command prints comes first.
		slices.SortStableFunc(list[own:], func(a, b matter) int { return cmp.Compare(seedOf(a.of), seedOf(b.of)) })
		switch {
		case c.Trouble != "":
			list = append(list, matter{results.Unavailable, c.Trouble, c, nil})
		case c.Verdict == results.Inconclusive:
			list = append(list, matter{results.Inconclusive, c.Reason, c, nil})
		}
	}
	words := r.Shards.Incomplete()
	if r.Interrupted && words == "" {
		list = append(list, matter{results.Inconclusive, "It was interrupted: this is what there was until then.", nil, nil})
	}
	if words != "" {
		list = append(list, matter{results.Inconclusive, words, nil, nil})
	}
	if r.Ended != nil {
		list = append(list, matter{ended, r.Ended.Error(), nil, nil})
	}
	if len(list) == 0 && r.ExitCode != 0 {
		list = append(list, matter{r.Verdict, r.Reason, nil, nil})
	}
	slices.SortStableFunc(list, func(a, b matter) int { return graver(a.verdict, b.verdict) })
	return list
}

// title names a matter in a few words.
func (m *matter) title() string {
	switch {
	case m.of != nil && m.cell.Kept:
		return fmt.Sprintf("Regression: %s is violated again: %s", m.of.Property, m.cell.Name)
	case m.of != nil:
		return fmt.Sprintf("%s is violated: %s", m.of.Property, m.cell.Name)
	}
	if m.cell == nil {
		return m.kind()
	}
	return m.kind() + ": " + m.cell.Name
}

// kind names a matter that is not a violation.
func (m *matter) kind() string {
	words := map[results.Verdict]string{results.Unavailable: "Environment not available", results.Inconclusive: "Proves nothing", ended: "Ended early"}[m.verdict]
	return cmp.Or(words, string(m.verdict))
}

// broken reports whether a violation of a property makes its cell violated.
func broken(p *results.PropertyResult) bool {
	return p.Promised && !p.Known && p.Is(checker.Violated)
}

// seedOf returns the seed of the first run that violated a property.
func seedOf(p *results.PropertyResult) uint64 { return p.Runs[checker.Violated.String()].Seed }

// sentence describes the violation of a property.
func sentence(p *results.PropertyResult) string {
	if p.Counterexample == nil || p.Sentence == "" {
		return "The " + string(p.Property) + " that was promised is violated."
	}
	return p.Sentence
}

// often says how often a property was violated, and with which seed first.
func often(c *results.Cell, p *results.PropertyResult) string {
	n := p.Runs[checker.Violated.String()]
	if c.Bound != nil {
		return names.Count(n.Count, "schedule")
	}
	return fmt.Sprintf("%d of %s, first with seed %d", n.Count, names.Count(c.Runs, "run"), n.Seed)
}

// story returns the story of a counterexample, or "".
func (r *Report) story(x *results.Counterexample) string {
	if r.Story == nil || x == nil {
		return ""
	}
	return strings.TrimRight(r.Story(x), "\n")
}
