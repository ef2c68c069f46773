package explore

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/workloads"
)

// Conviction is how long random runs looked, from several base seeds, until
// they found what is wrong with a lock.
type Conviction struct {
	*catalogue.Exposure
	Runs  []int // by base seed, the least first; more than Limit: it was not found
	Limit int
}

// Median and Worst are of the runs that it took.
func (c *Conviction) Median() int { return c.Runs[len(c.Runs)/2] }

// Worst: see Median.
func (c *Conviction) Worst() int { return c.Runs[len(c.Runs)-1] }

// Missed is from how many base seeds it was not found.
func (c *Conviction) Missed() (n int) {
	for _, r := range c.Runs {
		if r > c.Limit {
			n++
		}
	}
	return n
}

// Convict looks for what exposures name, from each of seeds base seeds, for
// limit runs at most. It knows nothing of the cases that document it. progress may
// be nil; what there is when ctx ends is no conviction.
func Convict(ctx context.Context, sim env.Simulator, exposures []catalogue.Exposure, seeds, limit, jobs int, progress func(done int)) ([]Conviction, error) {
	list := make([]Conviction, len(exposures))
	for i := range exposures {
		list[i] = Conviction{Exposure: &exposures[i], Runs: make([]int, seeds), Limit: limit}
	}
	var done atomic.Int64
	err := inParallel(ctx, sim, len(exposures)*seeds, jobs, func(i int, buffer *buffer) (err error) {
		x, base := &list[i/seeds], i%seeds
		if x.Runs[base], err = exposes(ctx, x.Exposure, x.Lock, uint64(1+base*apart), limit, buffer); err != nil {
			return err
		}
		if n := done.Add(1); progress != nil {
			progress(int(n))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		slices.Sort(list[i].Runs)
	}
	return list, nil
}

// exposes is the number of the first run of a lock that shows what x names: of
// the lock that does, or of one that should not. More than limit: none does.
func exposes(ctx context.Context, x *catalogue.Exposure, lock string, seed uint64, limit int, buffer *buffer) (int, error) {
	s := Settings{
		Lock: lock, On: "sim", Lease: x.Lease, Clients: AnyClients, Acquires: AnyAcquires, Mixed: x.Mixed,
		Server: catalogue.Server{Replicas: x.Replicas}, Count: Exactly(max(1, x.Count)), Seed: seed,
	}
	if s.Lease == 0 {
		s.Lease = 10 * time.Second
	}
	for _, name := range x.Faults {
		if f, ok := faults.Find(name); ok {
			s.Kinds = append(s.Kinds, f)
		}
	}
	if w, ok := workloads.Find(x.Workload); ok {
		s.Workloads = []workloads.Workload{w}
	}
	for i := range limit {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		r := NewResult()
		if err := r.run(&s, i, buffer); err != nil {
			return 0, err
		}
		if r.Outcome(x.Shows) == checker.Violated {
			return i + 1, nil
		}
	}
	return limit + 1, nil
}
