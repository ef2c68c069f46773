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
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// placeFlags choose one.
type placeFlags struct {
	on    string
	lease time.Duration
}

func (f *placeFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.on, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers)")
	durationFlag(cmd.Flags(), &f.lease, "lease", 0, "the lease `T`, 200ms to 10m (default 10s in sim; on docker 1s, 2s on several masters, 4s where servers have replicas)")
}

// place carries out plans.
type place struct {
	name  string
	lease time.Duration // on single servers
	runs  int           // of run, by default
	under string        // where its runs are kept below --out; "": there

	ctx context.Context
	// usual is the lease by what servers there are; nil: it is always lease.
	usual func(catalogue.Layout) time.Duration
	// execute carries out one plan, whose files are kept under name.
	execute func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error)
	// each carries out several, side by side if it can.
	each func(plans []*harness.Plan, names []string) ([]*harness.Judged, error)
	// batch carries out a batch, and again one run of it with everything recorded.
	batch func(s *explore.Settings, progress func(int)) (*explore.Result, error)
	again func(s *explore.Settings, run int) (*harness.Judged, error)
	// save writes the files of a run, if they are not written yet, and returns
	// their directory.
	save func(name string, j *harness.Judged) (dir string, err error)
}

// leaseOn is the lease on such servers.
func (p *place) leaseOn(l catalogue.Layout) time.Duration {
	if p.usual == nil {
		return p.lease
	}
	return p.usual(l)
}

// leaseOf is the lease of a case: what the slower of its set-ups needs.
func (p *place) leaseOf(c catalogue.Case) time.Duration {
	t := p.lease
	for _, s := range []catalogue.Setup{c.Setup, c.Remedy.Setup} {
		lock, _ := catalogue.FindLock(s.Lock)
		t = max(t, p.leaseOn(catalogue.NewLayout(&lock, s.Server, s.Options)))
	}
	return t
}

// runName is the directory below --out of a run that happens here.
func (p *place) runName(plan *harness.Plan) string { return filepath.Join(p.under, rundir.Name(plan)) }

func (p *place) interrupted() bool { return p.ctx.Err() != nil }

// openPlace makes the place that the flags name. With an error that is the place's
// fault nothing can be carried out in it, and what it is like is known all the same.
func (a *app) openPlace(cmd *cobra.Command, f placeFlags) (*place, error) {
	if err := choice("on", f.on, suite.Places...); err != nil {
		return nil, err
	}
	if f.lease != 0 || cmd.Flags().Changed("lease") {
		if err := harness.LeaseFits(f.lease); err != nil {
			return nil, fail(usage, "--lease %v: %w", f.lease, err)
		}
	}
	p := &place{name: f.on, lease: f.lease, ctx: cmd.Context()}
	if f.on == "docker" {
		return p, a.openDocker(p)
	}
	p.openSim()
	p.save = a.save
	return p, nil
}

// offers is what faults can ask for in a place, on this machine.
func offers(place string, own bool) []faults.Need {
	has := faults.Offers(place, own)
	if place != "sim" && runtime.GOOS != "linux" {
		has = slices.DeleteFunc(has, func(n faults.Need) bool { return n == faults.NeedStop })
	}
	return has
}

// strikes says why a fault cannot strike the servers of a lock here; nil: it can.
func (p *place) strikes(lock *catalogue.Lock, f faults.Fault) error {
	if err := lock.Strikes(f, p.name); err != nil || p.name != "docker" || lock.Store != catalogue.StoreMySQL {
		return err
	}
	return docker.MySQLLacks(f)
}

// impossible says why a case cannot be shown here; "": it can.
func (p *place) impossible(c *catalogue.Case) string {
	return cmp.Or(c.Impossible(p.name, p.lease), p.lacks(c))
}

// lacks says why the servers here cannot do what happens in a case; "": they can.
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

// usualRuns are how many runs there are in a place where nobody has said so.
var usualRuns = map[string]int{"sim": 1000, "docker": 1}

// openSim makes p virtual.
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
