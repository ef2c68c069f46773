package explore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// ShrinkBudget is how much shrinking may cost: events of the runs that it
// tries, and startEvents for each of them. It is not a time, so that one file
// gives one result on every machine.
const ShrinkBudget = 8_000_000

// startEvents is what it costs to set up a run and to judge it, in events.
const startEvents = 150

// ErrNothingToShrink is a run that does not violate the property.
var ErrNothingToShrink = errors.New("nothing to shrink")

// Shrink looks for the shortest run that violates a property that run j
// violates: by leaving out of the record what it can, and by searching again in
// small worlds.
// The plan that it returns has the choices that its run made, promises the
// property, and says in Shrunk how far it got. It is the same for the same run,
// property and budget, unless ctx ends it early.
//
// ErrNothingToShrink says that j does not violate the property. What a person
// has written by hand, in scripts, is not touched: that is an error as well.
func Shrink(ctx context.Context, sim env.Simulator, j *harness.Judged, property checker.Property, budget int) (short *harness.Plan, err error) {
	plan := j.Plan
	switch {
	case plan.On != "sim":
		return nil, fmt.Errorf("what happened on %s cannot be shrunk: real time does not repeat", plan.On)
	case plan.Scripts != nil:
		return nil, errors.New("a run of scripts cannot be shrunk: it is what somebody wrote")
	case j.Outcome(property) != checker.Violated:
		return nil, fmt.Errorf("%w: %s is %s", ErrNothingToShrink, property, j.Outcome(property))
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("shrinking the run of %s with seed %d: panic: %v\n%s", plan.Lock, plan.Seed, p, debug.Stack())
		}
	}()
	s := &shrinker{ctx: ctx, property: property, budget: budget, buffer: harness.NewBuffer(sim)}
	defer s.buffer.Close()
	original := newCandidate(clone(plan), j.History, j.Verdicts)
	best := s.search(original)
	short = tidy(best.plan)
	short.Seed, short.Promises = plan.Seed, []string{string(property)}
	short.Shrunk = &harness.Shrunk{
		For: property, From: original.size(), To: best.size(), Replays: s.replays, Stopped: s.stopped(),
	}
	return short, nil
}

// search is the whole search, from one run that violates the property. Its
// record is shrunk as far as a part of the budget goes, then small worlds may
// show something shorter, and the rest is for the record again.
func (s *shrinker) search(original *candidate) *candidate {
	all := s.budget
	s.budget = all / 4
	best := s.shrink(original)
	s.budget = all
	for _, c := range s.smallWorlds(best) {
		if c = s.shrink(c); c.compare(best) < 0 {
			best = c
		}
	}
	return s.round(s.shrink(best))
}

// shrinker is one search for a shorter run.
type shrinker struct {
	ctx      context.Context
	property checker.Property
	budget   int

	buffer  *harness.Buffer
	replays int
	events  int
}

// stopped says why the search has to end, or "".
func (s *shrinker) stopped() string {
	switch {
	case errors.Is(s.ctx.Err(), context.DeadlineExceeded):
		return harness.StoppedTime
	case s.ctx.Err() != nil:
		return harness.StoppedInterrupt
	case s.events >= s.budget:
		return harness.StoppedBudget
	}
	return ""
}

// candidate is a run that violates the property.
type candidate struct {
	plan *harness.Plan // with the choices that the run made, in order
	measure
	course
}

func newCandidate(plan *harness.Plan, h *history.History, verdicts []checker.Verdict) *candidate {
	return &candidate{plan, measured(plan, h, verdicts), courseOf(h)}
}

// replay carries out a plan. It is a candidate if its run comes to an end and
// violates the property.
func (s *shrinker) replay(plan *harness.Plan) (*candidate, bool) {
	h, verdicts := s.run(plan, env.Decisions{Seed: plan.Seed, Record: true, Replay: plan.Choices})
	if h == nil || !violates(verdicts, s.property) {
		return nil, false
	}
	plan.Choices = s.buffer.Decided().Choices
	return newCandidate(plan, h, verdicts), true
}

// run carries out a plan and pays for it; nil: the run did not come to an end.
// The history is good until the next.
func (s *shrinker) run(plan *harness.Plan, d env.Decisions) (*history.History, []checker.Verdict) {
	s.buffer.Limit(max(1, s.budget-s.events)) // one that goes further is none to read
	h, err := s.buffer.Simulate(plan, d, nil)
	s.replays++
	s.events += startEvents + s.buffer.Events()
	if err != nil || h.CutOff() {
		return nil, nil
	}
	return h, checker.Judge(h)
}

// improve tries a change. The changed run counts if it is shorter.
func (s *shrinker) improve(c *candidate, changed *harness.Plan) (*candidate, bool) {
	if changed == nil || s.stopped() != "" {
		return c, false
	}
	if n, ok := s.replay(changed); ok && n.compare(c) < 0 {
		return n, true
	}
	return c, false
}

// shrink leaves out what it can, until nothing is left that it could.
func (s *shrinker) shrink(c *candidate) *candidate {
	for {
		before := c.measure
		for _, step := range []func(*candidate) *candidate{
			s.dropFaults, s.dropClients, s.dropSections, s.dropRest, s.simplerPoints, s.sooner, s.zeroes,
		} {
			c = step(c)
		}
		if c.measure == before || s.stopped() != "" {
			return c
		}
	}
}

func violates(verdicts []checker.Verdict, p checker.Property) bool {
	return slices.ContainsFunc(verdicts, func(v checker.Verdict) bool {
		return v.Property == p && v.Outcome == checker.Violated
	})
}

// clone copies a plan as far as shrinking changes it.
func clone(p *harness.Plan) *harness.Plan {
	c := *p
	c.Clients, c.Sections, c.Faults, c.Choices = slices.Clone(p.Clients), slices.Clone(p.Sections), slices.Clone(p.Faults), slices.Clone(p.Choices)
	for i := range c.Faults {
		if point := c.Faults[i].Point; point != nil {
			copied := *point
			c.Faults[i].Point = &copied
		}
	}
	return &c
}
