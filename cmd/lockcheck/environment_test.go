package main

import (
	"context"
	"testing"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// changed is an environment that a test changes: it replaces fields, which are the
// methods of the environment before.
type changed struct {
	batch.Environment
	name    string
	execute func(*harness.Plan, string) (*harness.Judged, harness.Replay, error)
	each    func([]*harness.Plan, []string) ([]*harness.Judged, error)
	batch   func(*explore.Settings, func(int)) (*explore.Result, error)
	again   func(*explore.Settings, int) (*harness.Judged, error)
}

// change lets f change the environment of a runner.
func change(r *batch.Runner, f func(*changed)) {
	before := *r
	c := &changed{Environment: before.Environment, name: before.Name(), execute: before.Execute, each: before.Each, batch: before.Batch}
	c.again = func(s *explore.Settings, run int) (*harness.Judged, error) { return before.Again(&before, s, run) }
	f(c)
	r.Environment = c
}

func (c *changed) Name() string { return c.name }

func (c *changed) Simulator() env.Simulator {
	if c.name != "sim" {
		return nil
	}
	return c.Environment.Simulator()
}

func (c *changed) Execute(_ context.Context, plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
	return c.execute(plan, name)
}

func (c *changed) Each(_ *batch.Runner, plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
	return c.each(plans, names)
}

func (c *changed) Batch(_ *batch.Runner, s *explore.Settings, progress func(int)) (*explore.Result, error) {
	return c.batch(s, progress)
}

func (c *changed) Again(_ *batch.Runner, s *explore.Settings, run int) (*harness.Judged, error) {
	return c.again(s, run)
}

// simulated returns a runner in the simulator.
func (a *app) simulated(t *testing.T) *batch.Runner {
	r := a.environments().Unopened("sim", 0)
	r.Ctx = t.Context()
	return r
}
