package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// matrixInSim does all cells side by side. With an error it returns what was done.
func (a *app) matrixInSim(p *place, cells []*explore.Cell, f matrixFlags) ([]matrixCell, error) {
	results, whole, err := explore.Matrix(p.ctx, sim.Simulator, cells, f.jobs, a.matrixProgress(true))
	a.clearProgress()
	var done []matrixCell
	for i, c := range cells {
		if results[i].Runs == 0 && !whole[i] {
			continue // ended before it began
		}
		_, p.under = does(c)
		m, failed := a.judged(p, c, results[i], whole[i], f.shrink)
		done, err = append(done, m), cmp.Or(err, failed)
	}
	return done, err
}

// matrixInPlace does one cell after another, where runs take real time. Where
// the place breaks down it returns the cells that were done.
func (a *app) matrixInPlace(p *place, cells []*explore.Cell, f matrixFlags) ([]matrixCell, error) {
	progress := a.matrixProgress(false)
	runs := 0
	var done []matrixCell
	for i, c := range cells {
		if p.interrupted() {
			break
		}
		if !c.Expect.Holds() {
			c.Enough = c.Shown
		}
		_, p.under = does(c)
		r, err := p.batch(&c.Settings, func(n int) {
			if progress != nil {
				progress(explore.Far{Cells: len(cells), CellsDone: i, Runs: runs + n})
			}
		})
		a.clearProgress()
		if err != nil && (!troubled(err) || r == nil || r.Runs == 0) {
			return done, err
		}
		runs += r.Runs
		m, failed := a.judged(p, c, r, err == nil && !p.interrupted(), f.shrink)
		if done = append(done, m); cmp.Or(failed, err) != nil {
			return done, cmp.Or(failed, err)
		}
	}
	return done, nil
}

// judged judges a cell, and keeps and shrinks the first run with what was not
// expected of it; with all, the first that broke as expected, too.
func (a *app) judged(p *place, c *explore.Cell, r *explore.Result, whole, all bool) (matrixCell, error) {
	m := matrixCell{Cell: c, result: r, Judgement: c.Judge(r, whole)}
	broken := m.Unexpected
	if broken == nil && all {
		for _, code := range c.Expect.Must {
			broken = append(broken, code.Properties()...)
		}
	}
	run, property := first(r, broken)
	if run < 0 {
		return m, nil
	}
	kept, err := a.keep(p, &c.Settings, r.Only(run), false)
	if words := sentenceOf(kept[run].judged, property); m.Unexpected != nil && words != "" {
		m.sentence = string(property) + ": " + words
	}
	if err != nil {
		return m, err
	}
	m.kept = kept[run]
	if p.name == "sim" {
		m.shrunk, err = a.shrinkFor(p, m.kept.judged, property, p.runName(m.kept.judged.Plan))
	}
	return m, err
}

// first is the first run that violated one of the properties, and which; -1: none did.
func first(r *explore.Result, among []checker.Property) (run int, property checker.Property) {
	run = -1
	for _, p := range among {
		t := r.Outcomes[p]
		if n := t.First[checker.Violated]; t.Count[checker.Violated] > 0 && (run < 0 || n < run) {
			run, property = n, p
		}
	}
	return run, property
}

// matrixProgress shows how far a matrix is, on a terminal; timed, if the rest
// can be told from what is done.
func (a *app) matrixProgress(timed bool) func(explore.Far) {
	if !isTerminal(a.stderr) || a.quiet {
		return nil
	}
	start := time.Now()
	var shown time.Time
	return func(f explore.Far) {
		now := time.Now()
		if now.Sub(shown) < 100*time.Millisecond {
			return
		}
		shown = now
		io.WriteString(a.stderr, "\r"+matrixFar(f, now.Sub(start), timed)+"\x1b[K")
	}
}

func matrixFar(f explore.Far, took time.Duration, timed bool) string {
	rate := float64(f.Runs) / took.Seconds()
	words := fmt.Sprintf("%d of %s, %s, %.1f a second", f.CellsDone, plural(f.Cells, "cell"), plural(f.Runs, "run"), rate)
	if timed && rate > 0 {
		words = fmt.Sprintf("%d of %s, %s, %.0f a second, about %.0f s left",
			f.CellsDone, plural(f.Cells, "cell"), plural(f.Runs, "run"), rate, float64(f.Left)/rate)
	}
	return words
}
