package harness

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Simulate executes a plan in virtual time, with the plan's choices, or with those of
// its seed, which it then stores in the plan. replay reports how the choices fitted.
func Simulate(sim env.Simulator, plan *Plan) (j *Judged, replay Replay, err error) {
	b := NewBuffer(sim)
	defer b.Close()
	h, err := b.Simulate(plan, plan.Decide(true), nil)
	if err != nil {
		return nil, replay, err
	}
	d := b.Decided()
	replay.Defaulted, replay.Unused = d.Missing, d.Unused
	plan.Choices, plan.Order = d.Choices, d.Order
	j = Judge(plan, h)
	j.Requests, j.Messages = b.world.Requests(), d.Messages
	return j, replay, nil
}

// Repeat executes a plan in virtual time, in new memory.
func Repeat(sim env.Simulator, plan *Plan) (*history.History, error) {
	b := NewBuffer(sim)
	defer b.Close()
	return b.Simulate(plan, plan.Decide(false), nil)
}

// Replay reports how a record of choices fitted the run.
type Replay struct {
	Defaulted int // choices that the record lacks: the run took the least disturbing value
	Unused    int // choices of the record that the run never asked for
}

// Live executes a plan with real servers and clients from open. Each entry goes to the
// function that begin returns, at the moment when it is recorded. begin gets the
// header, which observes nothing yet. On error Live returns the partial run, judged by
// JudgeEarly.
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
