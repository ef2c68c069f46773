package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/exit"
)

// Limits of a herd. In sim the work of a cell grows with the third power of the number
// of waiters; on docker each waiter is a client of this process.
const (
	maxHerd         = 512
	maxHerdOnDocker = 128
	minHerdTime     = time.Second
	maxHerdTime     = 10 * time.Minute
)

// herdOf returns the herd that the flags ask for.
func (f *benchFlags) herdOf(cmd *cobra.Command, p *batch.Runner) (h *bench.Herd, err error) {
	h = bench.NewHerd(p.Name())
	changed := cmd.Flags().Changed
	if changed("seed") {
		h.Seed = f.seed
	}
	if changed("for") {
		h.For = f.limit
	}
	if changed("lease") {
		h.Lease = f.environment.Lease
	}
	most := maxHerd
	if p.Name() != "sim" {
		most = maxHerdOnDocker
	}
	if h.Waiters, err = f.numbers(cmd, h.Waiters, 1, most); err != nil {
		return nil, err
	}
	shortest, longest := docker.Sessions()
	switch {
	case h.For < minHerdTime || h.For > maxHerdTime:
		return nil, exit.Errorf(exit.Usage, "--for %v: it has to be from %v to %v", h.For, minHerdTime, maxHerdTime)
	case p.Name() != "sim" && (h.Lease < shortest || h.Lease > longest):
		return nil, exit.Errorf(exit.Usage, "--lease %v: the ensembles of docker let sessions last from %v to %v", h.Lease, shortest, longest)
	}
	return h, f.ofSim(cmd, p)
}

// herd compares queues by the entries that their waiters watch.
func (a *app) herd(cmd *cobra.Command, f benchFlags) error {
	p, err := a.open(cmd.Context(), f.environment)
	if err != nil {
		return err
	}
	h, err := f.herdOf(cmd, p)
	if err = cmp.Or(err, a.Out.CanKeep()); err != nil {
		return err
	}
	done := a.benchProgress(len(bench.Queued) * len(h.Waiters))
	if p.Name() == "sim" {
		err = h.CompareInSim(p.Ctx, f.jobs, done)
	} else {
		err = a.herdOnDocker(p, h, done)
	}
	return a.compared(p, h, func() any { return bench.NewHerdDocument(h) }, h.Cells != nil, err)
}

// herdOnDocker measures with an ensemble of its own.
func (a *app) herdOnDocker(p *batch.Runner, h *bench.Herd, done func(int)) error {
	e, err := docker.ZooKeeper(p.Ctx, bench.HerdServers, docker.Options{Log: a.Stderr})
	if err == nil {
		err = h.CompareOnEnsemble(p.Ctx, e.Addrs(), done)
		err = errors.Join(err, e.Close(context.WithoutCancel(p.Ctx)))
	}
	return failedServer(p, err)
}
