// Package explore looks for unknown violations: many runs, each with its own seed,
// judged as they end.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/workloads"
)

// Settings are the common settings of a batch of random runs.
type Settings struct {
	Lock    string
	Use     *catalogue.Lock // replaces the lock called Lock; it need not be in the catalogue
	Options catalogue.Options
	On      string
	Lease   time.Duration // T
	// Workloads are what clients do: in each run one of them. nil: the usual.
	Workloads []workloads.Workload

	Clients  Range
	Acquires Range           // of each client
	Shape    workloads.Shape // the zero value: drawn for each run
	Fencing  history.Fencing
	Server   catalogue.Server
	Kinds    []faults.Fault // one of them in each run; nil, or the zero Fault: no fault
	Mixed    bool           // each fault of a run is of a random kind
	Count    Range          // faults in a run; 0, with Busy: the default of the kind
	Busy     bool           // strike clients that are busy, because runs are expensive
	Points   []faults.Point // where faults strike; nil: at the points that suit every lock
	Promises []string
	Kind     *catalogue.LockKind // what the lock can keep; nil: everything
	Worker   []string
	Store    string // of the worker
	Strategy string // harness.Random, harness.PCT
	Depth    int    // of PCT; 0: drawn for each run

	Seed uint64
	From int // the first run, if those before it are done already
	Runs int // one more than the last run
	// Shard is the part of the runs of the cell called Cell ("": Lock) that this
	// machine executes.
	Shard Shard
	Cell  string
	// Not names mechanisms, with or without their faults: their violations are left out.
	Not []checker.Mechanism
	// CellSettings identifies the settings of that cell in results.
	CellSettings string
	For          time.Duration // stop then, even before Runs; 0: no limit
	Jobs         int           // runs at once; 0: one for each core
	// Wants reports, after For, whether the batch goes on all the same, if it has one job
	// in virtual time; nil: it does not.
	Wants func(*Result) bool
	// Enough reports after each run whether it was the last, if runs are sequential;
	// nil: it is not.
	Enough func(*Result) bool
}

// Random executes the runs in virtual time, some of them twice. It ends early, with a
// partial result, when ctx ends, or with an error, such as UnrepeatedError. progress
// may be nil; several goroutines call it from time to time.
func Random(ctx context.Context, sim env.Simulator, s *Settings, progress func(done int)) (*Result, error) {
	jobs := Workers(s.Jobs)
	start := time.Now()
	ctx, cancel := context.WithCancel(ctx) // an error of one run ends all
	defer cancel()
	var next, done atomic.Int64
	next.Store(int64(s.From))
	var group sync.WaitGroup
	parts := make([]*Result, jobs)
	errs := make([]error, jobs)
	for w := range jobs {
		parts[w] = NewResult()
		parts[w].Kind, parts[w].Not = s.Kind, s.Not
		group.Go(func() {
			buffer := newBuffer(sim)
			defer buffer.Close() // it closes memory only, so it cannot fail
			for ctx.Err() == nil && (s.For == 0 || time.Since(start) < s.For || s.Wants != nil && s.Wants(parts[w])) {
				i := int(next.Add(1) - 1)
				if i >= s.Runs {
					return
				}
				if !s.Here(i) {
					continue
				}
				if errs[w] = parts[w].run(s, i, buffer); errs[w] != nil {
					cancel()
					return
				}
				if n := done.Add(1); progress != nil && n%64 == 0 {
					progress(int(n))
				}
			}
		})
	}
	group.Wait()
	total := NewResult()
	total.Not = s.Not
	for _, part := range parts {
		total.Add(part)
	}
	err := cmp.Or(errs...)
	total.Took, total.Whole = time.Since(start), err == nil && next.Load() >= int64(s.Runs)
	return total, err
}

// Workers returns how many workers do so many jobs at once; 0: one for each core.
func Workers(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}

// Any reports whether the shard has one of the runs from from to before-1.
func (s *Settings) Any(from, before int) bool {
	for i := from; i < before; i++ {
		if s.Here(i) {
			return true
		}
	}
	return false
}

// Here reports whether the shard has run i.
func (s *Settings) Here(i int) bool {
	return s.Shard.Has(cmp.Or(s.Cell, s.Lock), s.Seed+uint64(i))
}

// buffer is the memory that the runs of one worker use one after another.
type buffer struct {
	*harness.Buffer
	checker.Examiner
	sim env.Simulator // for a run in new memory
}

func newBuffer(sim env.Simulator) *buffer {
	return &buffer{Buffer: harness.NewBuffer(sim), sim: sim}
}

// run executes run i.
func (r *Result) run(s *Settings, i int, buffer *buffer) error {
	plan := s.Plan(i)
	h, err := r.judged(i, plan, buffer)
	if err == nil && i%sampleShare == 0 {
		err = s.repeat(buffer.sim, i, h)
	}
	if err != nil {
		return fmt.Errorf("the run of %s with seed %d: %w", s.Lock, plan.Seed, err)
	}
	return nil
}

// judged executes a plan, judges the run and counts it. A panic becomes an error, so
// that the error can name the run.
func (r *Result) judged(i int, plan *harness.Plan, buffer *buffer) (h *history.History, err error) {
	defer recoverError(&err)
	h, err = buffer.Simulate(plan, plan.Decide(false), nil)
	if err != nil {
		return nil, err
	}
	verdicts, reached, hazards := buffer.Examine(h)
	if i%sampleShare == 0 {
		checker.Sample(h, verdicts)
	}
	verdicts = r.Explain(i, verdicts, buffer.Mechanism)
	r.Count(i, plan, verdicts, reached, &hazards)
	return h, nil
}

// recoverError turns a panic of the function that defers it into an error.
func recoverError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
