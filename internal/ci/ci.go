// Package ci says what a document says to those who watch over builds: as
// JUnit, as GitHub's annotations, and as the page of a GitHub job.
//
// It reads the document and nothing else, so that all of them come to its
// verdict; the stories are handed in.
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

// Report is a document that has been decided, and what is known beside it.
type Report struct {
	*results.Document
	// Story tells the run that a counterexample keeps; "": nobody can. nil: of
	// none of them.
	Story func(*results.Counterexample) string
	File  string // the suite's, from the root of the repository; "": there is none
	Rest  string // where all that was found is, for a page that has to be cut
	Ended error  // what ended it early, be it a mistake of whoever runs it or one of ours; nil: nothing
}

// matter is one thing for which a document is not held.
type matter struct {
	verdict results.Verdict         // Violated, Unavailable or Inconclusive
	words   string                  // what is the matter
	cell    *results.Cell           // nil: not one of them alone
	of      *results.PropertyResult // that is violated
}

// ended is the verdict, so to say, of what was ended early by an error.
const ended results.Verdict = "error"

// gravity is the order in which matters are named. Shards of one exploration
// that differ in what they name first would be hard to read side by side: among
// equals it is that of the document.
var gravity = []results.Verdict{
	results.Violated, ended, results.Unavailable, results.Inconclusive, results.Known, results.Held, results.NotApplicable, results.Elsewhere,
}

func graver(a, b results.Verdict) int {
	return cmp.Compare(slices.Index(gravity, a), slices.Index(gravity, b))
}

// matters are all of them, the gravest first; none: the document is held.
func (r *Report) matters() (list []matter) {
	for i := range r.Cells {
		c := &r.Cells[i]
		own := len(list)
		for j := range c.Properties {
			if p := &c.Properties[j]; broken(p) {
				list = append(list, matter{results.Violated, sentence(p), c, p})
			}
		}
		// First comes the run whose story the command tells.
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

// kind names what a matter is that is no violation.
func (m *matter) kind() string {
	words := map[results.Verdict]string{results.Unavailable: "Place not available", results.Inconclusive: "Proves nothing", ended: "Ended early"}[m.verdict]
	return cmp.Or(words, string(m.verdict))
}

// broken tells whether a property decides that a cell is violated.
func broken(p *results.PropertyResult) bool {
	return p.Promised && !p.Known && p.Is(checker.Violated)
}

// seedOf is that of the first run that violated a property.
func seedOf(p *results.PropertyResult) uint64 { return p.Runs[checker.Violated.String()].Seed }

// sentence says how a property was violated.
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

// story is the one of a counterexample; "": there is none.
func (r *Report) story(x *results.Counterexample) string {
	if r.Story == nil || x == nil {
		return ""
	}
	return strings.TrimRight(r.Story(x), "\n")
}
