package explore

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

// conviction is how many random runs it took, from several base seeds, to find the flaw
// of a lock.
type conviction struct {
	*exposure
	Runs  []int // by base seed, the least first; more than Limit: not found
	Limit int
}

// Median returns the median number of runs.
func (c *conviction) Median() int { return c.Runs[len(c.Runs)/2] }

// Worst returns the largest number of runs.
func (c *conviction) Worst() int { return c.Runs[len(c.Runs)-1] }

// Missed returns from how many base seeds the flaw was not found.
func (c *conviction) Missed() (n int) {
	for _, r := range c.Runs {
		if r > c.Limit {
			n++
		}
	}
	return n
}

// convict looks for the flaw that an exposure names, from each of seeds base seeds, for at
// most limit runs. It does not use the cases that document it.
func convict(t *testing.T, x *exposure, seeds, limit int) *conviction {
	t.Helper()
	c := &conviction{exposure: x, Runs: make([]int, seeds), Limit: limit}
	err := inParallel(t.Context(), sim.Simulator, seeds, 0, func(base int, _ *buffer) error {
		c.Runs[base] = cmp.Or(first(t, exposing(x, x.Lock, uint64(1+base*baseDistance)), x.Shows, limit), limit+1)
		return nil
	})
	must(t, err)
	slices.Sort(c.Runs)
	return c
}

// exposing returns the settings of runs that show the flaw of x. lock is the flawed lock,
// or its sound counterpart.
func exposing(x *exposure, lock string, seed uint64) *Settings {
	s := &Settings{
		Lock: lock, On: "sim", Lease: cmp.Or(x.Lease, 10*time.Second), Clients: AnyClients, Acquires: AnyAcquires, Mixed: x.Mixed,
		Server: catalogue.Server{Replicas: x.Replicas}, Count: Exactly(max(1, x.Count)), Seed: seed,
	}
	for _, name := range x.Faults {
		if f, ok := faults.Find(name); ok {
			s.Kinds = append(s.Kinds, f)
		}
	}
	if w, ok := workloads.Find(x.Workload); ok {
		s.Workloads = []workloads.Workload{w}
	}
	return s
}
