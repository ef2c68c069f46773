// Package explore looks for violations that nobody has written down: many
// runs, each with its own seed, judged as they end.
package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/cluster/sim"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

// Settings are what a batch of random runs has in common.
type Settings struct {
	Lock     string
	Options  catalogue.Options
	On       string
	Lease    time.Duration // T
	Clients  int
	Acquires int // of each client
	Fencing  history.Fencing
	Server   catalogue.Server
	Kinds    []faults.Fault // one of them in each run; none: nothing goes wrong
	Count    int            // faults in a run
	Promises []string
	Worker   []string

	Seed uint64
	Runs int
	For  time.Duration // stop then, whatever Runs says; 0: no limit
	Jobs int           // runs at once; 0: one for each core
}

// Plan is run i, from 0. Its seed is Seed+i.
func (s *Settings) Plan(i int) *harness.Plan {
	p := &harness.Plan{
		Lock: s.Lock, Options: s.Options, On: s.On, Seed: s.Seed + uint64(i), Lease: s.Lease,
		Acquires: s.Acquires, Server: s.Server, Fencing: s.Fencing, Promises: s.Promises, Worker: s.Worker,
	}
	p.Clients = clientNames(s.Clients)
	// Not the stream that the run's other choices are drawn from: what strikes
	// does not shift what the network does.
	draw := rand.New(rand.NewPCG(p.Seed, 0x6661756c74)).Int64N
	p.Faults = faults.Random(faults.Scope{
		Kinds: s.Kinds, Count: s.Count,
		Clients: p.Clients, Servers: []string{catalogue.RedisName}, Acquires: s.Acquires, Lease: s.Lease,
		// A critical section takes about T/30 while others wait for it.
		Length: s.Lease * time.Duration(s.Clients*s.Acquires) / 30,
	}, draw)
	return p
}

func clientNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return names
}

// Random does the runs in virtual time. It ends early, with what it has, when
// ctx does. progress, if not nil, is called now and then from several goroutines.
func Random(ctx context.Context, s *Settings, progress func(done int)) (*Result, error) {
	jobs := s.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	start := time.Now()
	var next, done atomic.Int64
	var group sync.WaitGroup
	parts := make([]*Result, jobs)
	errs := make([]error, jobs)
	for w := range jobs {
		parts[w] = NewResult()
		group.Go(func() {
			var buffer buffer
			defer buffer.Close() // of a place in memory: nothing that can fail
			for ctx.Err() == nil && (s.For == 0 || time.Since(start) < s.For) {
				i := int(next.Add(1) - 1)
				if i >= s.Runs {
					return
				}
				if errs[w] = parts[w].run(s, i, &buffer); errs[w] != nil {
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
	for w, part := range parts {
		if errs[w] != nil {
			return total, errs[w]
		}
		total.Add(part)
	}
	total.Took = time.Since(start)
	return total, nil
}

// buffer is the memory that the runs of one worker use, one after another.
type buffer struct {
	harness.Buffer
	checker.Examiner
	choices sim.Choices
}

// run does run i.
func (r *Result) run(s *Settings, i int, buffer *buffer) error {
	plan := s.Plan(i)
	if err := r.judged(i, plan, buffer); err != nil {
		return fmt.Errorf("the run of %s with seed %d: %w", s.Lock, plan.Seed, err)
	}
	return nil
}

// judged carries out a plan, judges it and counts it. A panic becomes an
// error, so that the run can be named.
func (r *Result) judged(i int, plan *harness.Plan, buffer *buffer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	h, err := harness.Run(plan, buffer.Sim(buffer.choices.Draw(plan.Seed, false)), &buffer.Buffer, nil)
	if err != nil {
		return err
	}
	verdicts, reached := buffer.Examine(h)
	r.Count(i, plan, verdicts, reached)
	return nil
}
