package harness

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Simulate carries out a plan in virtual time, with the plan's choices if it has
// some, else with those of its seed, which the plan then holds. replay is how
// the choices fitted.
func Simulate(sim env.Simulator, plan *Plan) (j *Judged, replay Replay, err error) {
	world := sim()
	h, err := Run(plan, in(world, plan.Decide(true)), nil, nil)
	if err != nil {
		return nil, replay, err
	}
	d := world.Decided()
	replay.Defaulted, replay.Unused = d.Missing, d.Unused
	plan.Choices, plan.Order = d.Choices, d.Order
	j = Judge(plan, h)
	j.Requests = world.Requests()
	return j, replay, nil
}

// Repeat carries out a plan in virtual time, in fresh memory.
func Repeat(sim env.Simulator, plan *Plan) (*history.History, error) {
	return Run(plan, in(sim(), plan.Decide(false)), nil, nil)
}

// in opens a simulation with the given decisions.
func in(world env.Simulation, d env.Decisions) Open {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) {
		world.Reset(cfg, o, d)
		return world, nil
	}
}

// Replay says how a record of choices fitted the run that it was replayed on.
type Replay struct {
	Defaulted int // asked for, and not in the record: the least disturbing value was taken
	Unused    int // in the record, and never asked for
}

// Live carries out a plan with real servers and clients, where open makes them.
// Each entry goes to what begin returns as it is recorded, after the header, which
// claims nothing about the servers yet. What there is when the run ends early comes
// with the error, judged as JudgeEarly does.
func Live(plan *Plan, open Open, begin func(history.Header) func(*history.Entry)) (*Judged, error) {
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
