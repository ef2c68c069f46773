package harness

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/cluster"
	"github.com/lockcheck/lockcheck/cluster/sim"
	"github.com/lockcheck/lockcheck/history"
)

// InSim carries out a plan in virtual time, with the plan's choices if it has
// some, else with those of its seed, which the plan then holds. replay is how
// the choices fitted.
func InSim(plan *Plan) (j *Judged, replay Replay, err error) {
	choices := sim.Draw(plan.Seed, true)
	if plan.Choices != nil {
		choices = sim.Replay(plan.Choices)
	}
	h, err := Run(plan, Sim(choices), nil, nil)
	if err != nil {
		return nil, replay, err
	}
	replay.Defaulted, replay.Unused = choices.Mismatch()
	plan.Choices = choices.Made()
	return Judge(plan, h), replay, nil
}

// Replay says how a record of choices fitted the run that it was replayed on.
type Replay struct {
	Defaulted int // asked for, and not in the record: the least disturbing value was taken
	Unused    int // in the record, and never asked for
}

// Judge judges a run with both judges.
func Judge(plan *Plan, h *history.History) *Judged {
	return &Judged{Plan: plan, History: h, Verdicts: checker.JudgeBoth(h), Reached: checker.Reach(h)}
}

// Sim opens a place in virtual time.
func Sim(choices *sim.Choices) Open {
	return func(cfg cluster.Config, o cluster.Observer) (cluster.Place, error) {
		return sim.New(cfg, o, choices), nil
	}
}
