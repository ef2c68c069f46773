package main

import (
	"cmp"
	"path/filepath"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// matrixInSim runs all cells in parallel. On error it still returns the finished cells.
func (a *app) matrixInSim(p *batch.Runner, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	found, whole, err := explore.Matrix(p.Ctx, p.Simulator(), cells, f.jobs, a.MatrixProgress(true))
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

// matrixInRealTime runs one cell after another, where runs take real time. If the
// environment breaks down, it still returns the finished cells.
func (a *app) matrixInRealTime(p *batch.Runner, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	progress := a.MatrixProgress(false)
	runs := 0
	done := []results.Cell{}
	for i, c := range cells {
		if p.Interrupted() {
			break
		}
		if !c.Expect.Holds() {
			c.Enough = c.Shown
		}
		p.Under = underOf(c)
		r, err := p.Batch(&c.Settings, func(n int) {
			if progress != nil {
				progress(explore.Far{Cells: len(cells), CellsDone: i, Runs: runs + n})
			}
		})
		a.ClearProgress()
		if err != nil && (exit.Code(err) != exit.Unavailable || r == nil || r.Runs == 0) {
			return done, err
		}
		runs += r.Runs
		m, failed := a.judged(p, c, r, err == nil && !p.Interrupted(), f.shrink)
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
func (a *app) judged(p *batch.Runner, of *explore.Cell, r *explore.Result, whole, all bool) (results.Cell, error) {
	c := results.MatrixCell(of, r, whole)
	run, property := c.First()
	unexpected := c.Expected.Unexpected != nil
	if run < 0 || !unexpected && !all {
		return c, nil
	}
	p.Under = underOf(of)
	x := &results.Counterexample{Seed: c.Seed + uint64(run)}
	c.Property(property).Counterexample = x
	runs, err := p.Keep(&of.Settings, r.Only(run), false)
	kept := runs[run]
	reported := kept.Judged
	if words := batch.Sentence(reported, property); unexpected && words != "" {
		x.Sentence = string(property) + ": " + words
	}
	if err == nil {
		x.File = filepath.Join(kept.Dir, rundir.HistoryFile)
		if p.Name() == "sim" {
			var short batch.Shrunk
			if short, err = p.ShrinkFor(kept.Judged, property, p.RunName(kept.Judged.Plan)); short.Dir != "" {
				x.Shrunk = filepath.Join(short.Dir, rundir.HistoryFile)
			}
			reported = cmp.Or(short.Judged, reported)
		}
	}
	if reported != nil && p.Name() == "sim" { // in other environments Porcupine judges all runs
		c.Expected.Second.Add(terminal.SecondOf(reported.Verdicts))
	}
	return c, err
}
