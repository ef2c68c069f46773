package harness

import (
	"context"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// InSim carries out a plan in virtual time, with the plan's choices if it has
// some, else with those of its seed, which the plan then holds. replay is how
// the choices fitted.
func InSim(plan *Plan) (j *Judged, replay Replay, err error) {
	choices := plan.Decide(true)
	var world *sim.World
	h, err := Run(plan, func(cfg env.Config, o env.Observer) (env.Place, error) {
		world = sim.New(cfg, o, choices)
		return world, nil
	}, nil, nil)
	if err != nil {
		return nil, replay, err
	}
	replay.Defaulted, replay.Unused = choices.Mismatch()
	plan.Choices, plan.Order = choices.Made(), choices.Taken()
	j = Judge(plan, h)
	j.Requests = world.Requests()
	return j, replay, nil
}

// Replay says how a record of choices fitted the run that it was replayed on.
type Replay struct {
	Defaulted int // asked for, and not in the record: the least disturbing value was taken
	Unused    int // in the record, and never asked for
}

// InDocker carries out a plan with real servers and clients. Each entry goes to
// sink as it is recorded, after the header, which claims nothing about the
// servers yet. ctx ends the run early: what there is until then comes with the
// error, judged as JudgeEarly does.
func InDocker(ctx context.Context, plan *Plan, o docker.Options, begin func(history.Header) func(*history.Entry)) (*Judged, error) {
	open := func(cfg env.Config, observer env.Observer) (env.Place, error) {
		return docker.New(ctx, cfg, observer, o)
	}
	h, err := Run(plan, open, nil, begin(plan.header(nil)))
	switch {
	case h == nil:
		return nil, err
	case err != nil:
		return JudgeEarly(plan, h, err), err
	}
	return Judge(plan, h), nil
}

// Judge judges a run with both judges.
func Judge(plan *Plan, h *history.History) *Judged {
	reached, hazards := checker.ReachHazards(h)
	return &Judged{Plan: plan, History: h, Verdicts: checker.JudgeBoth(h), Reached: reached, Hazards: hazards}
}

// Sim opens a place in virtual time.
func Sim(choices *sim.Choices) Open {
	return func(cfg env.Config, o env.Observer) (env.Place, error) {
		return sim.New(cfg, o, choices), nil
	}
}
