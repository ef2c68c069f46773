package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/workloads"
)

// openDocker makes p the environment with real servers.
func (a *app) openDocker(p *place) error {
	if p.lease == 0 {
		p.lease, p.usual = docker.LeaseOf(catalogue.Layout{}), docker.LeaseOf
	}
	p.runs = usualRuns["docker"]
	a.servers.Store(true)
	if err := docker.Available(p.ctx); err != nil {
		return exit.Errorf(exit.Unavailable, "%w", err)
	}
	p.execute = func(plan *harness.Plan, name string) (*harness.Judged, harness.Replay, error) {
		j, err := a.inDocker(p.ctx, plan, name)
		return j, harness.Replay{}, err
	}
	a.inRealTime(p)
	p.save = func(name string, _ *harness.Judged) (string, error) { return a.out.Run(name), nil }
	return nil
}

// plan returns the plan of run i of a batch. If its faults need slower servers than the
// batch was set up for, the plan has the same faults with a longer lease.
func (p *place) plan(s *explore.Settings, i int) *harness.Plan {
	plan := s.Plan(i)
	lock, _ := catalogue.FindLock(plan.Lock)
	if t := p.leaseOn(catalogue.NewLayout(&lock, plan.Server, plan.Options)); t > plan.Lease {
		slow := *s
		slow.Lease, slow.Shape = t, workloads.Usual(t)
		return slow.Plan(i)
	}
	return plan
}

// inDocker carries out one plan and keeps its files. It writes the history to disk line
// by line during the run, so that no failure can lose it.
func (a *app) inDocker(ctx context.Context, plan *harness.Plan, name string) (*harness.Judged, error) {
	dir := a.out.Run(name)
	f, err := rundir.Begin(dir, plan)
	if err != nil {
		return nil, outdir.Unsaved(err)
	}
	var lost error // the error of writing the history
	begin := func(h history.Header) func(*history.Entry) {
		w, err := history.NewWriter(f, h)
		lost = err
		return func(e *history.Entry) {
			if lost == nil {
				lost = w.Append(*e)
			}
		}
	}
	j, err := harness.Live(plan, docker.Opener(ctx, docker.Options{Log: a.Stderr}), begin)
	if lost = cmp.Or(lost, f.Close()); lost != nil {
		lost = outdir.Unwritable(lost)
	}
	if j != nil { // of a run that was cut short, the recorded part
		_, unsaved := a.out.Save(name, j)
		lost = cmp.Or(lost, unsaved)
	} else { // the run never began
		err = cmp.Or(err, outdir.Unsaved(rundir.Remove(dir)))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return j, ctx.Err()
	case misspoken(err):
		return j, exit.Errorf(exit.Usage, "%s: %w", strings.Join(plan.Worker, " "), err)
	case err != nil:
		return j, exit.Errorf(exit.Unavailable, "%w", err)
	case lost != nil:
		return j, lost
	}
	return j, nil
}

// misspoken reports whether err is the error of a worker that breaks the protocol. The
// runs of that worker prove nothing; those of other workers are not affected.
func misspoken(err error) bool {
	var wrong *env.ProtocolError
	return errors.As(err, &wrong)
}
