package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
)

// places are where runs can happen.
var places = []string{"sim", "docker"}

// placeFlags choose one.
type placeFlags struct {
	on    string
	lease time.Duration
}

func (f *placeFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.on, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers)")
	cmd.Flags().DurationVar(&f.lease, "lease", 0, "the lease `T` (default 10s in sim, 1s on docker)")
}

// place carries out plans.
type place struct {
	name  string
	lease time.Duration
	runs  int           // of run, by default
	has   []faults.Need // what faults can ask for

	ctx context.Context
	// execute carries out one plan, whose files will be kept under name.
	execute func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error)
	// each carries out several, side by side if it can.
	each func(plans []*harness.Plan, names []string) ([]*harness.Judged, error)
	// batch carries out a batch, and again one run of it with everything recorded.
	batch func(s *explore.Settings, progress func(int)) (*explore.Result, error)
	again func(s *explore.Settings, run int) (*harness.Judged, error)
}

func (p *place) interrupted() bool { return p.ctx.Err() != nil }

// openPlace makes the place that the flags name.
func (a *app) openPlace(cmd *cobra.Command, f placeFlags) (*place, error) {
	if err := choice("on", f.on, places...); err != nil {
		return nil, err
	}
	if f.lease < 0 || f.lease > 0 && f.lease < 10*time.Millisecond {
		return nil, fail(usage, "--lease %v: it has to be 10ms or more", f.lease)
	}
	p := &place{name: f.on, lease: f.lease, ctx: cmd.Context()}
	if f.on == "docker" {
		return p, a.openDocker(p)
	}
	p.openSim()
	return p, nil
}

// openSim makes p virtual.
func (p *place) openSim() {
	if p.lease == 0 {
		p.lease = 10 * time.Second
	}
	p.runs = 1000
	p.has = []faults.Need{faults.NeedClock, faults.NeedStop}
	p.execute = func(plan *harness.Plan, _ string) (*harness.Judged, harness.Replay, error) {
		return harness.InSim(plan)
	}
	p.each = func(plans []*harness.Plan, _ []string) ([]*harness.Judged, error) {
		judged := make([]*harness.Judged, len(plans))
		for i, plan := range plans {
			j, _, err := harness.InSim(plan)
			if err != nil {
				return nil, err
			}
			judged[i] = j
		}
		return judged, nil
	}
	p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
		return explore.Random(p.ctx, s, progress)
	}
	p.again = func(s *explore.Settings, run int) (*harness.Judged, error) {
		j, _, err := harness.InSim(s.Plan(run))
		return j, err
	}
}
