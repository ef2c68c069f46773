package summary

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// Searches prints the outcomes of the searches of one lock.
func (to *Printer) Searches(cells []results.Cell, shards *results.Shards) {
	lock, on, pr := cells[0].Lock, cells[0].On, cells[0].Promises
	searched := slices.DeleteFunc(slices.Clone(cells), func(c results.Cell) bool { return c.Bound == nil }) // without searches of other shards
	if len(searched) == 0 {
		to.Paragraph(2, fmt.Sprintf("%s on %s, exhaustively%s: no search falls to it", lock, on, shardWords(shards)))
		to.Printf("\n")
		return
	}
	first := &searched[0]
	most := "at most " + names.Count(first.Bound.Faults, "fault")
	if first.Faults == nil {
		most = "no fault"
	}
	to.Printf("%s on sim, exhaustively%s: %s × %d, %s\n\n", lock, shardWords(shards), names.Count(first.Bound.Clients, "client"), first.Bound.Acquires, most)
	to.Paragraph(9, "Bound    "+searched[len(searched)-1].Bound.Words())
	to.Printf("\n")
	code := exit.Held
	for i := range searched {
		c := &searched[i]
		to.bound(c)
		code = exit.Worse(code, exit.Of(pr.Judge(c.Result().Outcome)))
	}
	if code == exit.Unproven {
		to.Paragraph(2, "Proves nothing: "+results.Open(searched)+".")
	}
	var second checker.Second
	for i := range searched {
		second.Add(searched[i].Second())
	}
	to.Judges(second)
	to.boundFiles(searched)
	to.Printf("\n")
}

// boundFiles prints the directories of the counterexamples of searches, and the command
// that repeats the run of the story.
func (to *Printer) boundFiles(cells []results.Cell) {
	var kept []string
	again := ""
	for i := range cells {
		about, _ := batch.StoryProperty(cells[i].Result(), cells[i].Promises)
		for _, p := range cells[i].Properties {
			if p.Counterexample == nil || p.Replay == "" {
				continue
			}
			dir := filepath.Dir(p.File)
			kept = append(kept, dir)
			if p.Property == about {
				again = cmp.Or(again, dir)
			}
		}
	}
	for i, dir := range kept {
		if i == 8 && !to.Verbose {
			to.Printf("         … and %d more below %s\n", len(kept)-i, to.Out.Path)
			break
		}
		to.Printf("Files    %s\n", dir)
	}
	if kept != nil {
		to.ReplayLine(cmp.Or(again, kept[0]))
	}
}

// Shortest prints the story of the shortest violation of a search.
func (to *Printer) Shortest(j *harness.Judged, pr checker.Promise) error {
	if to.JSON || to.Quiet {
		return nil
	}
	to.Heading(fmt.Sprintf("%s, the shortest schedule", j.Plan.Lock))
	return to.Story(j.History, j.Verdicts, pr)
}

// bound prints the outcome of one search.
func (to *Printer) bound(c *results.Cell) {
	fault, how := "no fault", "all of this bound explored"
	if c.Faults != nil {
		fault = c.Faults[0]
	}
	if !c.Bound.Complete {
		how = "bounded, not complete"
	}
	to.Paragraph(2, fmt.Sprintf("%s: %s: %s, %s, in %.1f s", fault, how, names.Count(c.Bound.States, "state"), names.Count(c.Bound.Schedules, "schedule"), c.Seconds))
	for _, out := range checker.Outcomes {
		var parts []string
		last := ""
		flush := func() {
			if last != "" {
				parts[len(parts)-1] += " (" + last + ")"
			}
		}
		for i := range c.Properties {
			p := &c.Properties[i]
			if !p.Is(out) {
				continue
			}
			words := string(p.Property)
			switch {
			case p.Counterexample != nil:
				words += fmt.Sprintf(" after %s", names.Count(p.Steps, "step"))
			case out == checker.NA && p.Reason != last:
				flush()
				last = p.Reason
			}
			if !p.Promised {
				words += ", not promised"
			}
			parts = append(parts, words)
		}
		flush()
		if parts != nil {
			to.Paragraph(14, fmt.Sprintf("  %s %-9s %s", to.Sign(out), out, strings.Join(parts, "; ")))
		}
	}
	to.Printf("\n")
}
