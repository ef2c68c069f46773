package explore

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// No run breaks a property under a fault without its hazard. Under every fault the runs
// of a sound lock reach the hazards of its promises. A property that a lock breaks
// without a fault needs no hazard.
func TestEveryViolationReachedItsHazard(t *testing.T) {
	t.Parallel()
	runs, sound := 30, 400 // under hang and others nothing ends a lease, so it takes many runs
	if n, err := strconv.Atoi(os.Getenv("LOCKCHECK_HAZARD_RUNS")); err == nil {
		runs = n
	}
	if !alltests.Wanted() {
		runs = 10
	}
	calibration := calibrated(t)
	for i := range catalogue.Locks {
		lock := &catalogue.Locks[i]
		t.Run(lock.ID, func(t *testing.T) {
			t.Parallel()
			alone, err := catalogue.Expect(lock.ID, catalogue.NoFault)
			must(t, err)
			buffer := newBuffer(sim.Simulator)
			defer buffer.Close()
			for _, name := range lock.Columns() {
				kind, ok := faults.Find(name)
				if !ok {
					continue
				}
				cell, err := NewCell(defaults(10*time.Second, runs), *lock, lock.ID, name, calibration)
				must(t, err)
				broken := 0
				for n := range runs {
					broken += cell.withoutHazard(t, n, kind.Name, alone.May, buffer)
				}
				if broken > 0 {
					t.Errorf("%s under %s: %d of %d runs", lock.ID, name, broken, runs)
				}
				if lock.Flaw != "" || !cell.Expect.Holds() {
					continue
				}
				result := NewResult()
				for n := range sound {
					must(t, result.run(&cell.Settings, n, buffer))
					if n >= 5 && len(result.Untested()) == 0 {
						break
					}
				}
				for _, pair := range result.Untested() {
					t.Errorf("%s under %s: %s is never tested in %d runs: %s", lock.ID, name, pair.Property, result.Runs, pair.Hazard().Missing)
				}
			}
		})
	}
}

// withoutHazard counts the properties that a run breaks without their hazards.
func (c *Cell) withoutHazard(t *testing.T, run int, kind string, free []checker.Property, buffer *buffer) (count int) {
	t.Helper()
	plan := c.Plan(run)
	h, err := buffer.Simulate(plan, plan.Decide(false), nil)
	must(t, err)
	verdicts, _, hazards := buffer.Examine(h)
	for _, v := range verdicts {
		if v.Outcome == checker.Violated && !slices.Contains(free, v.Property) && !hazards.Reached(kind, v.Property) {
			if count++; count == 1 {
				t.Logf("%s under %s, seed %d breaks %s without its hazard: %s", c.Lock, kind, plan.Seed, v.Property, v.Witness.Sentence)
			}
		}
	}
	return count
}
