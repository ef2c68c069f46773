package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// summary prints the outcome of the runs of a cell. kept are the directories of the
// runs that have files, by seed.
func (a *app) summary(c *results.Cell, shards *results.Shards, kept map[uint64]string) {
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
		a.Paragraph(2, fmt.Sprintf("%s on %s: %s", c.Lock, on, words))
		a.Printf("\n")
		return
	}
	a.Printf("%s on %s: %s from seed %d, in %.1f s\n\n", c.Lock, on, names.Count(r.Runs, "run"), c.Seed, r.Took.Seconds())
	a.outcomeTable(c, r)
	a.reached(reachedLines(settingsOf(c), r))
	a.Judges(c.Second())
	if r.Empty > 0 {
		a.Paragraph(9, fmt.Sprintf("         In %s nobody got the lock; they count for nothing.", names.Count(r.Empty, "run")))
	}
	if c.Retried > 0 {
		a.Paragraph(9, "Place    it failed now and then; "+names.Count(c.Retried, "run")+" tried again")
	}
	if c.Trouble != "" {
		a.Paragraph(9, "Place    it failed, so that not all could be done: "+layout.FirstLine(c.Trouble))
	}
	if c.Cut != "" {
		a.Paragraph(9, "Cut      "+c.Cut+": these are not all runs")
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
		a.Paragraph(2, words+why+".")
	}
	a.keptFiles(c, r, kept)
	a.Printf("\n")
}

// outcomeTable prints a line for each property. If there was one fault, the line also
// says in how many runs a property that held could have been broken.
func (a *app) outcomeTable(c *results.Cell, r *explore.Result) {
	for _, prop := range checker.Properties {
		p := c.Property(prop)
		out, words := p.Decided(), p.Reason
		switch kinds := r.Kinds(); {
		case out == checker.Violated:
			t := r.Outcomes[prop]
			words = fmt.Sprintf("in %s, first with seed %d", names.Count(t.Count[out], "run"), c.Seed+uint64(t.First[out]))
		case out == checker.Valid && len(kinds) == 1:
			pair := explore.Pair{Fault: kinds[0], Property: prop}
			words = reachedIn(pair.Hazard(), r.Reach(pair))
		}
		if !c.Promises.Covers(prop) {
			words = strings.TrimPrefix(words+", not promised", ", ")
		}
		a.Paragraph(29, strings.TrimRight(fmt.Sprintf("%s %-16s %-9s %s", a.Sign(out), prop, out, words), " "))
	}
	a.Printf("\n")
}

// keptFiles prints the directories of kept runs by seed, and the command that replays
// the run of the story.
func (a *app) keptFiles(c *results.Cell, r *explore.Result, kept map[uint64]string) {
	seeds := slices.Sorted(maps.Keys(kept))
	for i, seed := range seeds {
		if i == 4 && !a.Verbose {
			a.Printf("         … and %d more below %s\n", len(seeds)-i, a.out.Path)
			break
		}
		a.Printf("Files    %s\n", kept[seed])
		if shows := shows(r, int(seed-c.Seed)); shows != "" {
			a.Paragraph(9, "         the first run with "+shows)
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
			a.Printf("Shrunk   %s\n", again)
		}
	}
	if again != "" {
		a.ReplayLine(again)
	}
}

// settingsOf returns the settings of a cell's runs that a summary needs.
func settingsOf(c *results.Cell) *explore.Settings {
	s := &explore.Settings{Lock: c.Lock}
	for _, name := range c.Faults {
		if k, ok := faults.Find(name); ok {
			s.Kinds = append(s.Kinds, k)
		}
	}
	return s
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

// disputes prints the cells on which the two judges disagree.
func (a *app) disputes(d *results.Document) {
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
		a.Say("lockcheck: %s: %s: please report it%s\n", c.Name, results.Disputed(n), words)
	}
}

// tell prints the story of the first run that broke the promise, or of its minimised
// run if there is one.
func (a *app) tell(e *batch.Explored) error {
	if e.About == "" {
		return nil
	}
	run := e.First(e.About)
	title := fmt.Sprintf("%s, seed %d", e.Settings.Lock, e.Settings.Seed+uint64(run))
	if short, ok := e.Short[e.About]; ok {
		err := a.tellShrunk(short, title)
		a.Printf("\n")
		return err
	}
	if a.Quiet || e.Kept[run].Judged == nil {
		return nil
	}
	a.Heading(title)
	return a.Story(e.Kept[run].Judged.History, e.Kept[run].Judged.Verdicts, e.Promise)
}
