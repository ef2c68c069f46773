package explore

import (
	"context"
	"flag"
	"os"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
)

var (
	update    = flag.Bool("update", false, "measure anew, and write internal/catalogue/calibration.json or the table of docs/random.md")
	only      = flag.String("locks", "*", "with -update: the locks whose calibration is measured; a glob")
	onlyFault = flag.String("faults", "*", "with -update: the columns whose calibration is measured; a glob")
)

// Calibration uses calibrationSeeds base seeds, far enough apart to share no run, and at
// most calibrationRuns runs from each.
const (
	calibrationSeeds = 200
	calibrationRuns  = 5000
	baseDistance     = 1_000_000
)

// The calibration is stale if the number of runs to find a code has changed. With -update
// the test measures it again.
func TestTheCalibrationIsNotStale(t *testing.T) {
	calibration := calibrated(t)
	if *update {
		recalibrate(t, calibration)
		return
	}
	dear, locks := alltests.Budget(10.0, 2), catalogue.Locks[:alltests.Budget(len(catalogue.Locks), len(catalogue.Locks)/3)]
	found := calibrate(t, 20, cellsThatBreak(t, locks, func(c *Cell) bool {
		return !slices.ContainsFunc(calibration.Found, func(m catalogue.Measured) bool {
			return m.Lock == c.Lock && m.Fault == c.Fault && m.Mean > dear
		})
	}))
	for _, now := range found {
		i := slices.IndexFunc(calibration.Found, func(m catalogue.Measured) bool {
			return m.Lock == now.Lock && m.Fault == now.Fault && m.Code == now.Code
		})
		// These are 20 base seeds of 200: the mean of so few is off by a quarter.
		if then := calibration.Found[i]; now.Mean > 2*then.Mean+1 || now.Mean < then.Mean/2-1 {
			t.Errorf("%s of %s under %s takes %.1f runs, and took %.1f: go test ./internal/explore -run TestTheCalibrationIsNotStale -update", now.Code, now.Lock, now.Fault, now.Mean, then.Mean)
		}
	}
	if len(found) < 10 {
		t.Errorf("only %d codes were measured", len(found))
	}
}

// recalibrate measures the locks that -locks names, and keeps the results of the others.
func recalibrate(t *testing.T, calibration *catalogue.Calibration) {
	t.Helper()
	locks := slices.DeleteFunc(slices.Clone(catalogue.Locks), func(l catalogue.Lock) bool {
		named, err := path.Match(*only, l.ID)
		return err != nil || !named
	})
	found := calibrate(t, calibrationSeeds, cellsThatBreak(t, locks, func(c *Cell) bool {
		named, err := path.Match(*onlyFault, c.Fault)
		return err == nil && named
	}))
	if found == nil {
		t.Fatalf("-locks %s -faults %s: no such cell has to break", *only, *onlyFault)
	}
	for i := range found {
		found[i].Date = time.Now().Format(time.DateOnly)
		if m := &found[i]; m.Never > 0 {
			t.Logf("%s of %s under %s was not found within %d runs from %d of %d base seeds", m.Code, m.Lock, m.Fault, calibrationRuns, m.Never, calibrationSeeds)
		}
	}
	calibration.Seeds, calibration.Most, calibration.Lease = calibrationSeeds, calibrationRuns, 10*time.Second
	putMeasured(calibration, found)
	file, err := os.Create("../catalogue/calibration.json")
	must(t, err)
	defer file.Close()
	must(t, writeCalibration(file, calibration))
}

// cellsThatBreak returns the cells that must show a code. It leaves out flawed variants
// whose expectation is that of another lock.
func cellsThatBreak(t *testing.T, locks []catalogue.Lock, measured func(*Cell) bool) (cells []*Cell) {
	t.Helper()
	for _, lock := range locks {
		for _, c := range cellsOf(t, defaults(10*time.Second, 1000), lock, lock.ID) {
			if !c.Expect.Holds() && !c.Inherited() && measured(c) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// calibrate measures from seeds base seeds how many runs it takes to find each code that a
// cell must show.
func calibrate(t *testing.T, seeds int, cells []*Cell) (list []catalogue.Measured) {
	t.Helper()
	first := make([][]firstRuns, len(cells)) // by cell and base seed
	for i := range first {
		first[i] = make([]firstRuns, seeds)
	}
	err := inParallel(t.Context(), sim.Simulator, len(cells)*seeds, 0, func(i int, buffer *buffer) (err error) {
		cell, base := i/seeds, i%seeds
		first[cell][base], err = cells[cell].findAll(t.Context(), uint64(1+base*baseDistance), buffer)
		return err
	})
	must(t, err)
	for i, c := range cells {
		for _, code := range c.Expect.Must {
			m := measureCode(first[i], code)
			m.Lock, m.Fault = c.Lock, c.Fault
			list = append(list, m)
		}
	}
	return list
}

// firstRuns has, by code, the number of runs up to the first that showed it; 0: none.
type firstRuns map[catalogue.Code]int

// findAll runs from one base seed until all codes that the cell must show are found.
func (c *Cell) findAll(ctx context.Context, seed uint64, buffer *buffer) (found firstRuns, err error) {
	s := c.Settings
	s.Seed = seed
	found = firstRuns{}
	r := NewResult()
	for i := 0; i < calibrationRuns && len(found) < len(c.Expect.Must) && ctx.Err() == nil; i++ {
		if err := r.run(&s, i, buffer); err != nil {
			return nil, err
		}
		for _, code := range c.Expect.Must {
			if found[code] == 0 && r.Found(code) {
				found[code] = i + 1
			}
		}
	}
	return found, nil
}

func measureCode(first []firstRuns, code catalogue.Code) catalogue.Measured {
	runs, never := make([]int, len(first)), 0
	for i, f := range first {
		if runs[i] = f[code]; runs[i] == 0 {
			runs[i] = calibrationRuns
			never++
		}
	}
	m := summarise(runs, never)
	m.Code = code
	return m
}
