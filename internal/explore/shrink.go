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

// ShrinkBudget is what shrinking may cost: the events of the runs that it tries, and
// startEvents for each run. It is not a time, so that one file gives one result on
// every machine.
const ShrinkBudget = 8_000_000

// startEvents is the cost of setting up and judging a run, in events.
const startEvents = 150

// ErrNothingToShrink reports that a run does not violate the property.
var ErrNothingToShrink = errors.New("nothing to shrink")

// Shrink looks for the shortest run that violates a property that run j violates, by the
// same mechanism: it leaves choices out of the record, and searches again in small worlds.
// The returned plan has the choices of its run, promises the property, and records in
// Shrunk how far shrinking got. It depends on the run, the property and the budget only,
// unless ctx ends it early.
//
// It returns ErrNothingToShrink if j does not violate the property. It also returns an
// error for scripts, which a person has written.
func Shrink(ctx context.Context, sim env.Simulator, j *harness.Judged, property checker.Property, budget int) (short *harness.Plan, err error) {
	plan := j.Plan
	switch {
	case !env.IsVirtual(plan.On):
		return nil, fmt.Errorf("a run on %s cannot be shrunk: real time does not repeat", plan.On)
	case plan.Scripts != nil:
		return nil, errors.New("a run of scripts cannot be shrunk: a person wrote them")
	case j.Outcome(property) != checker.Violated:
		return nil, fmt.Errorf("%w: %s is %s", ErrNothingToShrink, property, j.Outcome(property))
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("shrinking the run of %s with seed %d: panic: %v\n%s", plan.Lock, plan.Seed, p, debug.Stack())
		}
	}()
	s := newShrinker(ctx, sim, j, property, budget)
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

func newShrinker(ctx context.Context, sim env.Simulator, j *harness.Judged, property checker.Property, budget int) *shrinker {
	return &shrinker{
		ctx: ctx, property: property, budget: budget, buffer: harness.NewBuffer(sim),
		mechanism: checker.MechanismOf(j.History, j.Verdict(property)),
	}
}

// search is the whole search from one run that violates the property. It shrinks its
// record with a quarter of the budget, then looks for shorter runs in small worlds, and
// uses the rest for the record again.
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
	ctx       context.Context
	property  checker.Property
	mechanism checker.Mechanism
	budget    int

	buffer  *harness.Buffer
	replays int
	events  int
}

// stopped returns why the search must end, or "".
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

// candidate is a run that violates the property by the mechanism.
type candidate struct {
	plan *harness.Plan // with the choices of the run, in order
	measure
	course
}

func newCandidate(plan *harness.Plan, h *history.History, verdicts []checker.Verdict) *candidate {
	return &candidate{plan, measureRun(plan, h, verdicts), courseOf(h)}
}

// replay executes a plan. The run is a candidate if it ends and violates the property by
// the mechanism.
func (s *shrinker) replay(plan *harness.Plan) (*candidate, bool) {
	h, verdicts := s.run(plan, env.Decisions{Seed: plan.Seed, Record: true, Replay: plan.Choices})
	if !s.violates(h, verdicts) {
		return nil, false
	}
	plan.Choices = s.buffer.Decided().Choices
	return newCandidate(plan, h, verdicts), true
}

// run executes a plan and pays for it; nil: the run did not end. The history is valid
// until the next run.
func (s *shrinker) run(plan *harness.Plan, d env.Decisions) (*history.History, []checker.Verdict) {
	s.buffer.Limit(max(1, s.budget-s.events)) // a run that exceeds the budget is of no use
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

// shrink leaves out as much as it can.
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

// violates reports whether a run, which is nil if it did not end, violates the property
// by the mechanism.
func (s *shrinker) violates(h *history.History, verdicts []checker.Verdict) bool {
	return h != nil && isViolated(verdicts, s.property) &&
		checker.MechanismOf(h, verdicts[slices.Index(checker.Properties[:], s.property)]) == s.mechanism
}

func isViolated(verdicts []checker.Verdict, p checker.Property) bool {
	return slices.ContainsFunc(verdicts, func(v checker.Verdict) bool {
		return v.Property == p && v.Outcome == checker.Violated
	})
}

// clone copies the parts of a plan that shrinking changes.
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
