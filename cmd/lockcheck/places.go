package main

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// placeFlags are the flags that choose an environment.
type placeFlags struct {
	on    string
	lease time.Duration
}

func (f *placeFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.on, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers)")
	durationFlag(cmd.Flags(), &f.lease, "lease", 0, "the lease `T`, 200ms to 10m (default 10s in sim; on docker 1s, 2s on several masters, 4s where servers have replicas)")
}

// place is an environment, which carries out plans.
type place struct {
	name  string
	lease time.Duration // with single servers
	runs  int           // default number of runs of run
	under string        // directory of its runs below --out; "": --out itself

	ctx context.Context
	// usual returns the lease for servers of a layout; nil: always lease.
	usual func(catalogue.Layout) time.Duration
	// execute carries out one plan, and keeps its files under name.
	execute func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error)
	// each carries out several plans, in parallel if possible.
	each func(plans []*harness.Plan, names []string) ([]*harness.Judged, error)
	// batch carries out a batch. again repeats one run of it, with everything recorded.
	batch func(s *explore.Settings, progress func(int)) (*explore.Result, error)
	again func(s *explore.Settings, run int) (*harness.Judged, error)
	// save writes the files of a run unless they exist already, and returns their
	// directory.
	save func(name string, j *harness.Judged) (dir string, err error)
}

// leaseOn returns the lease on servers of a layout.
func (p *place) leaseOn(l catalogue.Layout) time.Duration {
	if p.usual == nil {
		return p.lease
	}
	return p.usual(l)
}

// leaseOf returns the lease of a case: the longer one that its set-ups need.
func (p *place) leaseOf(c catalogue.Case) time.Duration {
	t := p.lease
	for _, s := range []catalogue.Setup{c.Setup, c.Remedy.Setup} {
		lock, _ := catalogue.FindLock(s.Lock)
		t = max(t, p.leaseOn(catalogue.NewLayout(&lock, s.Server, s.Options)))
	}
	return t
}

// runName returns the directory of a run in this environment, below --out.
func (p *place) runName(plan *harness.Plan) string { return filepath.Join(p.under, rundir.Name(plan)) }

func (p *place) interrupted() bool { return p.ctx.Err() != nil }

// openPlace makes the environment that the flags name. If an error comes from the
// environment, no plan can be carried out, but the returned place still describes it.
func (a *app) openPlace(cmd *cobra.Command, f placeFlags) (*place, error) {
	if err := choice("on", f.on, suite.Places...); err != nil {
		return nil, err
	}
	if f.lease != 0 || cmd.Flags().Changed("lease") {
		if err := harness.LeaseFits(f.lease); err != nil {
			return nil, exit.Errorf(exit.Usage, "--lease %v: %w", f.lease, err)
		}
	}
	p := &place{name: f.on, lease: f.lease, ctx: cmd.Context()}
	if f.on == "docker" {
		return p, a.openDocker(p)
	}
	p.openSim()
	p.save = a.out.Save
	return p, nil
}

// offers lists the abilities of an environment on this machine that faults can require.
func offers(place string, own bool) []faults.Need {
	has := faults.Offers(place, own)
	if place != "sim" && runtime.GOOS != "linux" {
		has = slices.DeleteFunc(has, func(n faults.Need) bool { return n == faults.NeedStop })
	}
	return has
}

// strikes returns the reason why a fault cannot strike the servers of a lock here, or
// nil.
func (p *place) strikes(lock *catalogue.Lock, f faults.Fault) error {
	if err := lock.Strikes(f, p.name); err != nil || p.name != "docker" || lock.Store != catalogue.StoreMySQL {
		return err
	}
	return docker.MySQLLacks(f)
}

// impossible returns the reason why a case cannot be shown here, or "".
func (p *place) impossible(c *catalogue.Case) string {
	return cmp.Or(c.Impossible(p.name, p.lease), p.lacks(c))
}

// lacks returns the reason why the servers here do not support a case, or "".
func (p *place) lacks(c *catalogue.Case) string {
	lock, _ := catalogue.FindLock(c.Setup.Lock)
	for _, s := range c.Schedules {
		for _, in := range s.Faults {
			if f, ok := faults.Find(in.Fault); ok {
				if err := p.strikes(&lock, f); err != nil {
					return err.Error()
				}
			}
		}
	}
	return ""
}

// usualRuns are the default numbers of runs by environment.
var usualRuns = map[string]int{"sim": 1000, "docker": 1}

// openSim makes p the environment with virtual time.
func (p *place) openSim() {
	if p.lease == 0 {
		p.lease = 10 * time.Second
	}
	p.runs = usualRuns["sim"]
	p.execute = func(plan *harness.Plan, _ string) (*harness.Judged, harness.Replay, error) {
		return harness.Simulate(sim.Simulator, plan)
	}
	p.each = func(plans []*harness.Plan, _ []string) ([]*harness.Judged, error) {
		judged := make([]*harness.Judged, len(plans))
		for i, plan := range plans {
			j, _, err := harness.Simulate(sim.Simulator, plan)
			if err != nil {
				return nil, err
			}
			judged[i] = j
		}
		return judged, nil
	}
	p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
		return explore.Random(p.ctx, sim.Simulator, s, progress)
	}
	p.again = func(s *explore.Settings, run int) (*harness.Judged, error) {
		j, _, err := harness.Simulate(sim.Simulator, s.Plan(run))
		return j, err
	}
}
