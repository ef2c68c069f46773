// Package summary prints results for people: of a batch of runs, a suite, a matrix and an
// exhaustive search, and how far they are.
package summary

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Printer prints results.
type Printer struct {
	*terminal.Terminal
	Out *outdir.Dir
}

// Cell prints the outcome of the runs of a cell. kept are the directories of the
// runs that have files, by seed.
func (to *Printer) Cell(c *results.Cell, shards *results.Shards, kept map[uint64]string) {
	r := c.Result()
	on := c.On
	if c.Strategy != harness.Random {
		on += " by " + c.Strategy
	}
	on += shardWords(shards)
	if c.Runs == 0 && shards != nil {
		words := "no run falls to it"
		switch {
		case c.Trouble != "":
			words = "no run could be done: " + layout.FirstLine(c.Trouble)
		case c.Cut != "":
			words = "no run was done: " + c.Cut
		}
		to.Paragraph(2, fmt.Sprintf("%s on %s: %s", c.Lock, on, words))
		to.Printf("\n")
		return
	}
	to.Printf("%s on %s: %s from seed %d, in %.1f s\n\n", c.Lock, on, names.Count(r.Runs, "run"), c.Seed, r.Took.Seconds())
	to.outcomeTable(c, r)
	to.mechanisms(c)
	to.reached(reachedLines(c.Lock, c.Faults, r))
	to.Judges(c.Second())
	if r.Empty > 0 {
		to.Paragraph(9, fmt.Sprintf("         In %s nobody got the lock; they count for nothing.", names.Count(r.Empty, "run")))
	}
	if c.Retried > 0 {
		to.Paragraph(9, servers(*c)+"it failed now and then; "+names.Count(c.Retried, "run")+" tried again")
	}
	if c.Trouble != "" {
		to.Paragraph(9, servers(*c)+"it failed, so that not all could be done: "+layout.FirstLine(c.Trouble))
	}
	if c.Cut != "" {
		to.Paragraph(9, "Cut      "+c.Cut+": these are not all runs")
	}
	why := c.Vacuous()
	if why == "" {
		why = c.NotTested()
	}
	if why != "" && !c.Breaks() {
		words := "Proves nothing: "
		if shards.Unjoined() {
			words = "Proves nothing without the other shards: "
		}
		to.Paragraph(2, words+why+".")
	}
	to.keptFiles(c, r, kept)
	to.Printf("\n")
}

// outcomeTable prints a line for each property. If there was one fault, the line also
// says in how many runs a property that held could have been broken.
func (to *Printer) outcomeTable(c *results.Cell, r *explore.Result) {
	excused := false
	for _, prop := range checker.Properties {
		p := c.Property(prop)
		out, words := p.Decided(), p.Reason
		t := r.Outcomes[prop]
		excused = excused || t.Beyond > 0
		switch kinds := r.Kinds(); {
		case t.Excused():
			continue
		case out == checker.Violated:
			words = fmt.Sprintf("in %s, first with seed %d", names.Count(t.Count[out]-t.Beyond, "run"), c.Seed+uint64(t.First[out]))
		case out == checker.Valid && len(kinds) == 1:
			pair := explore.Pair{Fault: kinds[0], Property: prop}
			words = reachedIn(pair.Hazard(), r.Reach(pair))
		}
		if n := p.LeftOut(); n > 0 {
			words = strings.TrimPrefix(fmt.Sprintf("%s, %s left out", words, names.Count(n, "run")), ", ")
		}
		if !c.Promises.Covers(prop) {
			words = strings.TrimPrefix(words+", not promised", ", ")
		}
		to.Paragraph(29, strings.TrimRight(fmt.Sprintf("%s %-16s %-9s %s", to.Sign(out), prop, out, words), " "))
	}
	to.Printf("\n")
	if excused {
		to.excused(c, r)
	}
}

// excused prints the violations that no lock of its kind could have avoided.
func (to *Printer) excused(c *results.Cell, r *explore.Result) {
	to.Paragraph(0, kindWords(c.Kind)+" cannot keep these under such faults (--promise all counts them, too):")
	for _, prop := range checker.Properties {
		t := r.Outcomes[prop]
		if t.Beyond == 0 {
			continue
		}
		words := "in " + names.Count(t.Beyond, "run")
		if t.Excused() {
			words += fmt.Sprintf(", first with seed %d", c.Seed+uint64(t.First[checker.Violated]))
		}
		to.Paragraph(29, fmt.Sprintf("! %-16s %-9s %s", prop, checker.Violated, words))
	}
	to.Printf("\n")
}

// kindWords says which locks are of a kind, as the subject of a sentence.
func kindWords(kind string) string {
	switch kind {
	case "any":
		return "A lock on such servers"
	case "no-expiry":
		return "A lock without an expiry"
	}
	return "A lock of the kind " + kind
}

// keptFiles prints the directories of kept runs by seed, and the command that replays
// the run of the story.
func (to *Printer) keptFiles(c *results.Cell, r *explore.Result, kept map[uint64]string) {
	seeds := slices.Sorted(maps.Keys(kept))
	for i, seed := range seeds {
		if i == 4 && !to.Verbose {
			to.Printf("         … and %d more below %s\n", len(seeds)-i, to.Out.Path)
			break
		}
		to.Printf("Files    %s\n", kept[seed])
		if shows := shows(r, int(seed-c.Seed)); shows != "" {
			to.Paragraph(9, "         the first run with "+shows)
		}
	}
	again := ""
	if len(seeds) > 0 {
		again = kept[seeds[0]]
	}
	about, _ := batch.StoryProperty(r, c.Promises)
	if p := c.Property(about); p != nil && p.Counterexample != nil {
		if again = kept[p.Seed]; p.Shrunk != "" {
			again = filepath.Dir(p.Shrunk)
			to.Printf("Shrunk   %s\n", again)
		}
	}
	if again != "" {
		to.ReplayLine(again, c.ReplayFlags...)
	}
}

// shows lists the properties that a run was the first to violate or to leave open.
func shows(r *explore.Result, run int) string {
	var parts []string
	for _, out := range []checker.Outcome{checker.Violated, checker.Unknown} {
		var names []string
		for _, prop := range checker.Properties {
			if t := r.Outcomes[prop]; t.Count[out] > 0 && t.First[out] == run {
				names = append(names, string(prop))
			}
		}
		if len(names) > 0 {
			parts = append(parts, strings.Join(names, ", ")+" "+out.String())
		}
	}
	return strings.Join(parts, " and ")
}

// Disputes prints the cells on which the two judges disagree.
func (to *Printer) Disputes(d *results.Document) {
	for i := range d.Cells {
		c := &d.Cells[i]
		n := c.Second().Disagreed
		if n == 0 {
			continue
		}
		words := ""
		for _, p := range c.Properties {
			if t, ok := p.Runs[checker.Unknown.String()]; ok {
				words += fmt.Sprintf("; %s with seed %d: %s", p.Property, t.Seed, t.Reason)
			}
		}
		to.Say("lockcheck: %s: %s: please report it%s\n", c.Name, results.Disputed(n), words)
	}
}
