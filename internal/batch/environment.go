// Package batch carries out plans in an environment: single ones, those of a case, and
// batches of runs. It keeps the runs that have to be kept, and minimises them. It knows an
// environment only as an interface: the simulator and the real servers stand above it.
package batch

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

// Description is what is known of an environment before it is opened.
type Description interface {
	// Name returns sim, docker or external.
	Name() string
	// Lease returns the lease on servers of a layout.
	Lease(catalogue.Layout) time.Duration
	// Strikes returns the reason why a fault cannot strike the servers of a lock, or nil.
	Strikes(*catalogue.Lock, faults.Fault) error
	// Surroundings returns the settings, apart from flags and files, that affect runs.
	Surroundings() map[string]string
	// Flags returns the flags that name the servers for replay; nil: lockcheck starts them.
	Flags() []string
}

// Environment carries out plans. If it fails itself, the error has the exit code
// exit.Unavailable.
type Environment interface {
	Description
	// Simulator returns what makes virtual time, or nil where time is real.
	Simulator() env.Simulator
	// Execute carries out one plan. Where time is real it keeps the files under name.
	Execute(ctx context.Context, plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error)
	// Each carries out several plans, in parallel if possible.
	Each(r *Runner, plans []*harness.Plan, names []string) ([]*harness.Judged, error)
	// Batch carries out a batch. Again repeats one run of it, with everything recorded. It
	// returns nil if the run does not repeat and is not in memory.
	Batch(r *Runner, s *explore.Settings, progress func(int)) (*explore.Result, error)
	Again(r *Runner, s *explore.Settings, run int) (*harness.Judged, error)
	// Save writes the files of a run, in place of an earlier run's, unless Execute has
	// written them. It returns their directory.
	Save(name string, j *harness.Judged) (dir string, err error)
}

// Runner carries out the runs of one command, or of one cell of it, in an environment.
type Runner struct {
	Environment
	Ctx   context.Context
	Out   *outdir.Dir
	Under string // directory of its runs below Out; "": Out itself
	Say   func(format string, args ...any)
}

// Execute carries out one plan.
func (r *Runner) Execute(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
	return r.Environment.Execute(r.Ctx, plan, name)
}

// Each carries out several plans of a case.
func (r *Runner) Each(plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
	return r.Environment.Each(r, plans, names)
}

// Batch carries out a batch of runs.
func (r *Runner) Batch(s *explore.Settings, progress func(int)) (*explore.Result, error) {
	return r.Environment.Batch(r, s, progress)
}

// BaseLease returns the lease with single servers.
func (r *Runner) BaseLease() time.Duration { return r.Lease(catalogue.Layout{}) }

// LeaseOf returns the lease of a case: the longer one that its set-ups need.
func (r *Runner) LeaseOf(c catalogue.Case) time.Duration {
	t := r.BaseLease()
	for _, s := range []catalogue.Setup{c.Setup, c.Remedy.Setup} {
		lock, _ := catalogue.FindLock(s.Lock)
		t = max(t, r.Lease(catalogue.NewLayout(&lock, s.Server, s.Options)))
	}
	return t
}

// RunName returns the directory of a run in this environment, below --out.
func (r *Runner) RunName(plan *harness.Plan) string { return filepath.Join(r.Under, rundir.Name(plan)) }

// ReplayFlags returns the flags that replay needs for a run of a worker, or of a built-in
// lock (nil). Whoever has started the worker in this command may start it again.
func (r *Runner) ReplayFlags(worker []string) []string {
	if worker == nil {
		return r.Flags()
	}
	return append([]string{"--allow-worker"}, r.Flags()...)
}

// Interrupted reports whether somebody ended the command.
func (r *Runner) Interrupted() bool { return r.Ctx.Err() != nil }

// Plan returns the plan of run i of a batch. If its faults need slower servers than the
// batch was set up for, the plan has the same faults with a longer lease.
func (r *Runner) Plan(s *explore.Settings, i int) *harness.Plan {
	plan := s.Plan(i)
	if t := r.Lease(plan.Layout()); t > plan.Lease {
		slow := *s
		slow.Lease, slow.Shape = t, workloads.Usual(t)
		return slow.Plan(i)
	}
	return plan
}

// Impossible returns the reason why a case cannot be shown here, or "".
func (r *Runner) Impossible(c *catalogue.Case) string {
	return cmp.Or(c.Impossible(r.Name(), r.BaseLease()), r.Lacks(c))
}

// Lacks returns the reason why the servers here do not support a case, or "".
func (r *Runner) Lacks(c *catalogue.Case) string {
	lock, _ := catalogue.FindLock(c.Setup.Lock)
	for _, s := range c.Schedules {
		for _, in := range s.Faults {
			if f, ok := faults.Find(in.Fault); ok {
				if err := r.Strikes(&lock, f); err != nil {
					return err.Error()
				}
			}
		}
	}
	return ""
}

// Offers lists the abilities of an environment on this machine that faults can require.
func Offers(environment string, own bool) []faults.Need {
	has := faults.Offers(environment, own)
	if environment != "sim" && runtime.GOOS != "linux" {
		has = slices.DeleteFunc(has, func(n faults.Need) bool { return n == faults.NeedStop })
	}
	return has
}

// UsualRuns are the default numbers of runs by environment.
var UsualRuns = map[string]int{"sim": 1000, "docker": 1, "external": 1}

// Unlimited is the number of runs if only time limits them.
const Unlimited = 1 << 40

// Fill sets the settings that are open to the defaults of the environment.
func (r *Runner) Fill(s *explore.Settings) {
	s.On, s.Lease = r.Name(), r.BaseLease()
	if r.Name() != "sim" {
		s.Usual(r.BaseLease())
	}
	if s.Runs == 0 {
		s.Runs = UsualRuns[r.Name()]
	}
}

// The reasons why a cell has fewer runs than planned.
const (
	Interrupted = "interrupted"
	TimeOver    = "time was over"
	ErrorEnded  = "an error ended it"
)

// Cut returns the harmless reason why a batch ended before all its runs, or "". Without
// a number of runs, a batch is complete when time is over, unless other shards have
// runs of it.
func (r *Runner) Cut(s *explore.Settings, done *explore.Result, trouble error) string {
	switch {
	case trouble != nil || done.Whole || !s.Any(0, s.Runs):
		return ""
	case r.Interrupted():
		return Interrupted
	case s.Runs != Unlimited || s.Shard.Of > 0:
		return TimeOver
	}
	return ""
}

// Concerned reports whether this shard needs the environment, because one of its runs
// happens here. With 0 runs only the environment knows their number.
func Concerned(s *explore.Settings) bool { return s.Runs == 0 || s.Any(0, s.Runs) }
