package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// calibrationPath is where the source of this program keeps its calibration.
const calibrationPath = "catalogue/calibration.json"

// calibrate measures the cells that must break, and writes the file. What a
// flawed variant has of another lock is measured there.
func (a *app) calibrate(p *place, cells []*explore.Cell, f matrixFlags) error {
	if info, err := os.Stat(filepath.Dir(f.file)); err != nil || !info.IsDir() {
		return fail(usage, "--calibration %s: there is no folder %s here; call it where lockcheck's source is, or name another file",
			f.file, filepath.Dir(f.file))
	}
	if err := canWrite(f.file, calibration); err != nil {
		return fail(usage, "cannot write --calibration %s: %w", f.file, err)
	}
	date := cmp.Or(f.date, time.Now().Format(time.DateOnly))
	cells = slices.DeleteFunc(cells, func(c *explore.Cell) bool { return c.Expect.Holds() || c.Inherited() })
	measured, err := catalogue.Calibrated()
	if err != nil {
		return err
	}
	start := time.Now()
	found, err := explore.Calibrate(p.ctx, sim.Simulator, cells, explore.CalibrationSeeds, f.jobs, a.matrixProgress(true))
	a.clearProgress()
	if err != nil {
		return err
	}
	for i := range found {
		found[i].Date = date
	}
	measured.Seeds, measured.Most, measured.Lease = explore.CalibrationSeeds, explore.CalibrationRuns, p.lease
	measured.Put(found)
	file, err := os.Create(f.file)
	if err == nil {
		err = cmp.Or(measured.Write(file), file.Close())
	}
	if err != nil {
		return fail(usage, "--calibration: %w", err)
	}
	a.printf("Measured %s of %s, %d base seeds each, in %.0f s, and wrote %s.\n",
		plural(len(found), "code"), plural(len(cells), "cell"), explore.CalibrationSeeds, time.Since(start).Seconds(), f.file)
	never := 0
	for _, m := range found {
		if m.Never > 0 {
			never++
			a.paragraph(2, fmt.Sprintf("  %s of %s under %s was not found within %d runs from %d of them.", m.Code, m.Lock, m.Fault, explore.CalibrationRuns, m.Never))
		}
	}
	a.printf("Build lockcheck again to use it.\n")
	return nil
}
