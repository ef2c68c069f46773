package explore

import (
	"context"
	"sync"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// How calibration looks: from so many base seeds, which are too far apart for
// one to see a run of another's, and from each of them for so long.
const (
	CalibrationSeeds = 200
	CalibrationRuns  = 5000
	apart            = 1_000_000
)

// Calibrate measures how many runs it takes until each code that has to be
// found in a cell is, from seeds base seeds. progress may be nil.
func Calibrate(ctx context.Context, sim env.Simulator, cells []*Cell, seeds, jobs int, progress func(Far)) ([]catalogue.Measured, error) {
	first := make([][]firstRuns, len(cells)) // by cell and base seed
	for i := range first {
		first[i] = make([]firstRuns, seeds)
	}
	var mu sync.Mutex
	far := Far{Cells: len(cells)}
	done := 0
	err := inParallel(ctx, sim, len(cells)*seeds, jobs, func(i int, buffer *buffer) error {
		cell, base := i/seeds, i%seeds
		found, runs, err := cells[cell].first(ctx, uint64(1+base*apart), buffer)
		if err != nil {
			return err
		}
		first[cell][base] = found
		mu.Lock()
		defer mu.Unlock()
		done++
		far.CellsDone, far.Runs = done/seeds, far.Runs+runs
		far.Left = far.Runs * (len(cells)*seeds - done) / done
		if progress != nil {
			progress(far)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []catalogue.Measured
	for i, c := range cells {
		for _, code := range c.Expect.Must {
			m := sum(first[i], code)
			m.Lock, m.Fault = c.Lock, c.Fault
			list = append(list, m)
		}
	}
	return list, nil
}

// firstRuns says by code in how many runs it was found; 0: it was not.
type firstRuns map[catalogue.Code]int

// first looks from one base seed until all that has to be found was.
func (c *Cell) first(ctx context.Context, seed uint64, buffer *buffer) (found firstRuns, runs int, err error) {
	s := c.Settings
	s.Seed = seed
	found = firstRuns{}
	r := NewResult()
	for i := 0; i < CalibrationRuns && len(found) < len(c.Expect.Must) && ctx.Err() == nil; i++ {
		if err := r.run(&s, i, buffer); err != nil {
			return nil, 0, err
		}
		for _, code := range c.Expect.Must {
			if found[code] == 0 && r.Found(code) {
				found[code] = i + 1
			}
		}
	}
	return found, r.Runs, nil
}

func sum(first []firstRuns, code catalogue.Code) catalogue.Measured {
	runs, never := make([]int, len(first)), 0
	for i, f := range first {
		if runs[i] = f[code]; runs[i] == 0 {
			runs[i] = CalibrationRuns
			never++
		}
	}
	m := catalogue.Measure(runs, never)
	m.Code = code
	return m
}
