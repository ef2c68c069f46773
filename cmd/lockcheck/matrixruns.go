package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// matrixInSim runs all cells in parallel. On error it still returns the finished cells.
func (a *app) matrixInSim(p *place, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	found, whole, err := explore.Matrix(p.ctx, sim.Simulator, cells, f.jobs, a.matrixProgress(true))
	a.ClearProgress()
	done := []results.Cell{}
	for i, c := range cells {
		if found[i].Runs == 0 && !whole[i] {
			continue // an error ended the matrix before this cell began
		}
		m, failed := a.judged(p, c, found[i], whole[i], f.shrink)
		done, err = append(done, m), cmp.Or(err, failed)
	}
	return done, err
}

// matrixInPlace runs one cell after another, where runs take real time. If the
// environment breaks down, it still returns the finished cells.
func (a *app) matrixInPlace(p *place, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	progress := a.matrixProgress(false)
	runs := 0
	done := []results.Cell{}
	for i, c := range cells {
		if p.interrupted() {
			break
		}
		if !c.Expect.Holds() {
			c.Enough = c.Shown
		}
		p.under = underOf(c)
		r, err := p.batch(&c.Settings, func(n int) {
			if progress != nil {
				progress(explore.Far{Cells: len(cells), CellsDone: i, Runs: runs + n})
			}
		})
		a.ClearProgress()
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

// underOf returns the directory below --out for the runs of a cell; "" means --out
// itself.
func underOf(c *explore.Cell) string {
	_, workload := (&results.Expectation{Fault: c.Fault}).Does()
	return workload
}

// judged judges a cell. It keeps and minimises the first run with an unexpected
// violation; with all set, also the first run with an expected one.
func (a *app) judged(p *place, of *explore.Cell, r *explore.Result, whole, all bool) (results.Cell, error) {
	c := results.MatrixCell(of, r, whole)
	run, property := c.First()
	unexpected := c.Expected.Unexpected != nil
	if run < 0 || !unexpected && !all {
		return c, nil
	}
	p.under = underOf(of)
	x := &results.Counterexample{Seed: c.Seed + uint64(run)}
	c.Property(property).Counterexample = x
	runs, err := a.keep(p, &of.Settings, r.Only(run), false)
	kept := runs[run]
	reported := kept.judged
	if words := sentenceOf(reported, property); unexpected && words != "" {
		x.Sentence = string(property) + ": " + words
	}
	if err == nil {
		x.File = filepath.Join(kept.dir, rundir.HistoryFile)
		if p.name == "sim" {
			var short shrunkRun
			if short, err = a.shrinkFor(p, kept.judged, property, p.runName(kept.judged.Plan)); short.dir != "" {
				x.Shrunk = filepath.Join(short.dir, rundir.HistoryFile)
			}
			reported = cmp.Or(short.judged, reported)
		}
	}
	if reported != nil && p.name == "sim" { // in other environments Porcupine judges all runs
		c.Expected.Second.Add(terminal.SecondOf(reported.Verdicts))
	}
	return c, err
}

// matrixProgress shows the progress of a matrix on a terminal. With timed it also
// estimates the remaining time.
func (a *app) matrixProgress(timed bool) func(explore.Far) {
	if !a.ShowsProgress() {
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
		a.ShowProgress(matrixFar(f, now.Sub(start), timed))
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
