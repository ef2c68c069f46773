// Package explore looks for violations that nobody has written down: many
// runs, each with its own seed, judged as they end.
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

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/workloads"
)

// Settings are what a batch of random runs has in common.
type Settings struct {
	Lock    string
	Use     *catalogue.Lock // instead of the one called Lock: one that is not in the catalogue
	Options catalogue.Options
	On      string
	Lease   time.Duration // T
	// Workloads are what clients do: in each run one of them. None: the usual.
	Workloads []workloads.Workload

	Clients  Range
	Acquires Range           // of each client
	Shape    workloads.Shape // the zero value: drawn for each run
	Fencing  history.Fencing
	Server   catalogue.Server
	Kinds    []faults.Fault // one of them in each run; none, or the zero Fault: nothing goes wrong
	Mixed    bool           // each fault of a run is of a kind of its own
	Count    Range          // faults in a run; 0, with Busy: as many as are usual of their kind
	Busy     bool           // faults strike clients that are busy: a run is dear
	Promises []string
	Worker   []string
	Strategy string // harness.Random, harness.PCT
	Depth    int    // of PCT; 0: drawn for each run

	Seed uint64
	From int // the first run, where those before it have been done already
	Runs int // the first run that is not done any more
	// Shard is what is done here of the runs of the cell called Cell ("": Lock).
	Shard Shard
	Cell  string
	// CellSettings is what results know the settings of that cell by.
	CellSettings string
	For          time.Duration // stop then, whatever Runs says; 0: no limit
	Jobs         int           // runs at once; 0: one for each core
	// Enough, where runs are done one after another, says after each whether it
	// was the last; nil: it is not.
	Enough func(*Result) bool
}

// Random does the runs in virtual time, some of them twice (see
// UnrepeatedError, which is an error of its). It ends early, with what it has, when
// ctx does, or with an error. progress, if not nil, is called now and then from
// several goroutines.
func Random(ctx context.Context, sim env.Simulator, s *Settings, progress func(done int)) (*Result, error) {
	jobs := s.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
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
		group.Go(func() {
			buffer := newBuffer(sim)
			defer buffer.Close() // of memory: nothing that can fail
			for ctx.Err() == nil && (s.For == 0 || time.Since(start) < s.For) {
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
	for _, part := range parts {
		total.Add(part)
	}
	err := cmp.Or(errs...)
	total.Took, total.Whole = time.Since(start), err == nil && next.Load() >= int64(s.Runs)
	return total, err
}

// Any tells whether one of the runs with the numbers from to before is one of the
// shard's.
func (s *Settings) Any(from, before int) bool {
	for i := from; i < before; i++ {
		if s.Here(i) {
			return true
		}
	}
	return false
}

// Here tells whether run i is one of the shard's.
func (s *Settings) Here(i int) bool {
	return s.Shard.Has(cmp.Or(s.Cell, s.Lock), s.Seed+uint64(i))
}

// buffer is the memory that the runs of one worker use, one after another.
type buffer struct {
	*harness.Buffer
	checker.Examiner
	sim env.Simulator // for a run that shares no memory with others
}

func newBuffer(sim env.Simulator) *buffer {
	return &buffer{Buffer: harness.NewBuffer(sim), sim: sim}
}

// run does run i.
func (r *Result) run(s *Settings, i int, buffer *buffer) error {
	plan := s.Plan(i)
	h, err := r.judged(i, plan, buffer)
	if err == nil && i%sampled == 0 {
		err = s.repeat(buffer.sim, i, h)
	}
	if err != nil {
		return fmt.Errorf("the run of %s with seed %d: %w", s.Lock, plan.Seed, err)
	}
	return nil
}

// judged carries out a plan, judges it and counts it. A panic becomes an
// error, so that the run can be named.
func (r *Result) judged(i int, plan *harness.Plan, buffer *buffer) (h *history.History, err error) {
	defer caught(&err)
	h, err = buffer.Simulate(plan, plan.Decide(false), nil)
	if err != nil {
		return nil, err
	}
	verdicts, reached, hazards := buffer.Examine(h)
	if i%sampled == 0 {
		checker.Sample(h, verdicts)
	}
	r.Count(i, plan, verdicts, reached, &hazards)
	return h, nil
}

// caught makes an error of a panic in the function that defers it.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
