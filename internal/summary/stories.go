package summary

import (
	"cmp"
	"fmt"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Explored prints the story of the first run that broke the promise, or of its minimised
// run if there is one.
func (to *Printer) Explored(e *batch.Explored) error {
	if e.About == "" {
		return nil
	}
	run := e.First(e.About)
	title := fmt.Sprintf("%s, seed %d", e.Settings.Lock, e.Settings.Seed+uint64(run))
	if e.Result.Outcomes[e.About].Excused() {
		title += ", beyond its kind"
	}
	if short, ok := e.Short[e.About]; ok {
		err := to.Shrunk(short, title)
		to.Printf("\n")
		return err
	}
	if to.Quiet || e.Kept[run].Judged == nil {
		return nil
	}
	to.Heading(title)
	about := e.Promise
	if e.Settings.Not != nil {
		about = checker.Promise{e.About} // the run may violate others by mechanisms that are left out
	}
	return to.Story(e.Kept[run].Judged.History, e.Kept[run].Judged.Verdicts, about)
}

// tellCells prints the story of the first violation of a promise in cells, from its
// files. If the files are missing it prints a message and goes on.
func (to *Printer) tellCells(cells []results.Cell) error {
	for i := range cells {
		c := &cells[i]
		about, ok := batch.StoryProperty(c.Result(), c.Promises)
		if !ok {
			continue
		}
		p := c.Property(about)
		file := cmp.Or(p.Shrunk, p.File)
		j, err := rundir.ReadJudged(file)
		if err != nil {
			to.Say("lockcheck: the story of %s cannot be told: %v\n", c.Name, err)
			return nil
		}
		title := fmt.Sprintf("%s, seed %d", c.Lock, p.Seed)
		if c.Kept {
			title = c.Name
		}
		switch {
		case c.Bound != nil:
			return to.Shortest(j, c.Promises)
		case to.Quiet:
			return nil
		case p.Shrunk != "" && j.Plan.Shrunk != nil:
			err := to.Shrunk(batch.Shrunk{Property: about, Judged: j}, title)
			to.Printf("\n")
			return err
		}
		to.Heading(title)
		return to.Story(j.History, j.Verdicts, c.Promises)
	}
	return nil
}

// Shrunk prints the story of a minimised run under a title.
func (to *Printer) Shrunk(s batch.Shrunk, title string) error {
	if to.JSON {
		return nil
	}
	if !to.Quiet {
		to.Heading(title + ", shrunk for " + string(s.Property))
		if err := to.Story(s.Judged.History, s.Judged.Verdicts, checker.Promise{s.Property}); err != nil {
			return err
		}
	}
	words := fmt.Sprintf("%s; %s", s.Judged.Plan.Shrunk, names.Count(s.Judged.Plan.Shrunk.Replays, "replay"))
	if s.Took > 0 {
		words += fmt.Sprintf(", %.1f s", s.Took.Seconds())
	}
	to.Paragraph(9, words)
	to.Judges(terminal.SecondOf(s.Judged.Verdicts))
	return nil
}
