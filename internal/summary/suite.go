package summary

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// standingOf has the signs and words for the verdicts of cells.
var standingOf = map[results.Verdict]struct {
	sign  checker.Outcome
	words string
}{
	results.Held:          {checker.Valid, "held"},
	results.Known:         {checker.Valid, "still violated, as in the baseline:"},
	results.Violated:      {checker.Violated, "violated"},
	results.Inconclusive:  {checker.Unknown, "proves nothing:"},
	results.Unavailable:   {checker.Unknown, "the environment failed:"},
	results.NotApplicable: {checker.NA, "n/a:"},
	results.Elsewhere:     {checker.NA, "elsewhere:"},
}

// Suite prints the story of the first violation and the outcome of each cell, and
// says whether the lock or the environment failed. kept are the new directories of kept
// counterexamples.
func (to *Printer) Suite(d *results.Document, kept []string) error {
	first := slices.IndexFunc(d.Cells, func(c results.Cell) bool { return c.Verdict == results.Violated })
	if first >= 0 {
		c := d.Cells[first]
		c.Promises, _, _ = broken(&c) // no story for a known violation
		if err := to.tellCells([]results.Cell{c}); err != nil {
			return err
		}
	}
	to.suiteTable(d)
	to.Baseline(d)
	for _, dir := range kept {
		to.Paragraph(9, "Kept     "+dir+", to be replayed from now on")
	}
	to.suiteEnd(d, first)
	if to.Out.Page != "" {
		to.Printf("Index    %s\n", to.Out.Page)
	}
	return nil
}

// nameWidth is the most columns for the names of cells.
const nameWidth = 42

// suiteTable prints a line for each cell.
func (to *Printer) suiteTable(d *results.Document) {
	to.Paragraph(2, fmt.Sprintf("%s%s: %s, %s, seed %d, in %.1f s", cmp.Or(d.Settings["arguments"], suite.File), shardWords(d.Shards),
		names.Count(len(d.Cells), "cell"), names.Count(d.Runs, "run"), d.Seed, d.Seconds))
	to.Printf("\n")
	width, digits := 0, 0
	for i := range d.Cells {
		if n := utf8.RuneCountInString(d.Cells[i].Name); n <= nameWidth {
			width = max(width, n)
		}
		digits = max(digits, len(names.Count(d.Cells[i].Runs, "run")))
	}
	said := map[string]bool{} // reasons that have been printed
	for i := range d.Cells {
		c := &d.Cells[i]
		s := standingOf[c.Verdict]
		name := to.Sign(s.sign) + " " + c.Name + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(c.Name)))
		if layout.Width(name) > width+2 { // it gets a line of its own
			to.Printf("%s\n", name)
			name = strings.Repeat(" ", width+2)
		}
		words := cellWords(c)
		if c.Verdict == results.Unavailable && said[c.Reason] {
			words = s.words + " as above"
		}
		said[c.Reason] = true
		to.Paragraph(4, fmt.Sprintf("%s  %*s  %s", name, digits, names.Count(c.Runs, "run"), words))
		if !c.Kept {
			for _, h := range c.HazardsReached() {
				to.Paragraph(8, fmt.Sprintf("      %s: %s", strings.Join(h.Properties.Strings(), ", "), reachedIn(h.Hazard, h.Runs)))
			}
		}
	}
	to.Printf("\n")
}

// cellWords describes the outcome of a cell.
func cellWords(c *results.Cell) string {
	words := standingOf[c.Verdict].words
	if c.Verdict == results.Inconclusive && strings.HasPrefix(c.Reason, "not tested: ") {
		words = "" // the verdict is enough
	}
	broken, known, aside := broken(c)
	switch c.Verdict {
	case results.Violated:
		words += " " + strings.Join(broken.Strings(), ", ")
		if known != nil {
			words += "; known: " + strings.Join(known.Strings(), ", ")
		}
	case results.Known:
		words += " " + strings.Join(known.Strings(), ", ")
	}
	if c.Reason != "" {
		words = strings.TrimSpace(words + " " + layout.FirstLine(c.Reason))
	}
	if c.Kept && slices.Contains(names.Locks(), c.Lock) && !strings.Contains(c.Name, c.Lock) { // the file may name another lock now
		words += "; its lock is " + c.Lock + ", as when it was kept"
	}
	if c.Unfit > 0 {
		words += "; " + names.Count(c.Unfit, "decision") + " not as recorded"
	}
	if c.Verdict == results.Violated && c.Trouble != "" {
		words += "; then the environment failed: " + layout.FirstLine(c.Trouble)
	}
	if c.Cut != "" && c.Reason != c.Cut {
		words += "; " + c.Cut
	}
	if aside != nil {
		words += "; also violated, but not promised: " + strings.Join(aside.Strings(), ", ")
	}
	return words
}

// broken returns the violated properties of a cell: fresh promises, promises known to
// the baseline, and properties that are not promised.
func broken(c *results.Cell) (fresh, known, aside checker.Promise) {
	for _, p := range c.Properties {
		switch {
		case !p.Is(checker.Violated):
		case !p.Promised:
			aside = append(aside, p.Property)
		case p.Known:
			known = append(known, p.Property)
		default:
			fresh = append(fresh, p.Property)
		}
	}
	return fresh, known, aside
}

// suiteEnd says whether the lock or the environment failed, and prints the next
// command. first is the first violated cell, or -1.
func (to *Printer) suiteEnd(d *results.Document, first int) {
	troubled, past, replayed, elsewhere := 0, 0, 0, 0
	for i := range d.Cells {
		c := &d.Cells[i]
		switch {
		case c.Kept && c.Verdict == results.Elsewhere:
			elsewhere++
		case c.Kept:
			past++
			replayed += c.Runs
		}
		if c.Trouble != "" {
			troubled++
		}
	}
	lock := "no promise was broken"
	switch promises, known := d.BrokenPromises(); {
	case promises > 0:
		lock = "broke " + names.Count(promises, "promise")
	case known > 0:
		lock = "no new violation"
	}
	to.Paragraph(9, "Past     "+pastWords(past, replayed, elsewhere))
	to.Paragraph(9, "Lock     "+lock)
	var second checker.Second
	for i := range d.Cells {
		second.Add(d.Cells[i].Second())
	}
	to.Judges(second)
	if troubled > 0 || d.Retried > 0 {
		to.Paragraph(9, servers(d.Cells...)+failureWords(troubled, d.Retried))
	}
	exit := fmt.Sprintf("Exit     %d: %s", d.ExitCode, d.Verdict)
	switch d.Verdict {
	case results.Elsewhere:
		exit += ": the runs of other shards decide the result"
	case results.Inconclusive:
		exit += ": " + layout.FirstLine(d.Reason)
	case results.Unavailable:
		exit += ": the environment was not available for all runs"
	}
	to.Paragraph(9, exit)
	for _, words := range d.Cuts() {
		to.Paragraph(9, "         "+words)
	}
	to.Shard(d.Shards)
	if first < 0 {
		return
	}
	fresh, _, _ := broken(&d.Cells[first])
	about, _ := batch.StoryProperty(d.Cells[first].Result(), fresh) // the property of the story
	p := d.Cells[first].Property(about)
	if p.Replay == "" { // its files are missing
		return
	}
	to.Printf("Files    %s\n", filepath.Dir(p.Schedule()))
	to.CommandLine("Again    ", p.Replay)
	to.PageLine(filepath.Dir(p.Schedule()))
}

// failureWords says in how many cells the environment failed, and how many runs were
// tried again for that.
func failureWords(troubled, retried int) string {
	again := names.Count(retried, "run")
	if troubled == 0 {
		return fmt.Sprintf("it failed in %s, tried again since", again)
	}
	words := fmt.Sprintf("it failed in %s, which says nothing about the lock", names.Count(troubled, "cell"))
	if retried > 0 {
		words += "; " + again + " tried again"
	}
	return words
}

// servers is the label of words about servers that failed: those on Docker, or the user's.
func servers(cells ...results.Cell) string {
	if slices.ContainsFunc(cells, func(c results.Cell) bool { return c.On == suite.External }) &&
		!slices.ContainsFunc(cells, func(c results.Cell) bool { return c.On == "docker" }) {
		return "Servers  "
	}
	return "Docker   "
}

// pastWords says how many kept counterexamples were replayed, and how many belong to
// other shards.
func pastWords(kept, replayed, elsewhere int) string {
	switch {
	case elsewhere > 0 && kept == 0:
		return names.Count(elsewhere, "counterexample") + ": replayed by other shards"
	case elsewhere > 0:
		return pastWords(kept, replayed, 0) + fmt.Sprintf("; %d by other shards", elsewhere)
	case kept == 0:
		return "no counterexamples to replay"
	case replayed < kept:
		return fmt.Sprintf("%d of %s replayed", replayed, names.Count(kept, "counterexample"))
	}
	return names.Count(kept, "counterexample") + " replayed"
}
