package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/bench"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
)

// benches lists the measurements.
var benches = []struct {
	name string
	run  func(*app, *cobra.Command, benchFlags) error
}{
	{"contention", (*app).contention},
	{"herd", (*app).herd},
	{"fairness", (*app).fairness},
}

type benchFlags struct {
	environment ask.Environment
	clients     []int
	limit       time.Duration
	seed        uint64
	jobs        int
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	var names []string
	for _, b := range benches {
		names = append(names, b.name)
	}
	cmd := &cobra.Command{
		Use:   "bench " + strings.Join(names, "|"),
		Short: "Measure what a lock costs",
		Long: `Measures what a lock costs. Other commands judge whether it is correct.

contention: clients want one lock (redis-set-lua) all the time, and wait for it
in four ways: they ask again at once (spin), or after a wait that is fixed,
random, or random and doubling. Measured are the commands that it takes for each
acquisition, the acquisitions a second, the longest wait, and how they were
spread: what docs/contention.md shows and explains.

herd: clients queue up for a lock behind its holder, which leaves. Measured are
the notifications and the listed children that this costs where everybody
watches the whole queue (zk-children) and where everybody watches the one before
it (zk-recipe), how long it takes, and how all of it grows with the number of
those who wait: what docs/herd.md shows and explains.

fairness: clients want one lock on MySQL all the time, which has no queue
(mysql-optimistic), the published one (mysql-fair; also where it is given back
just before its lease ends), or one done right (mysql-fair-fixed). Measured are
the acquisitions out of turn, how often each client was overtaken, the longest
wait, and what the worst off got: what docs/fairness.md shows and explains.

The tables are printed, and written with their picture below --out, as
contention.md and contention-sim.svg or contention-docker.svg, or herd.md and so
on. A page that is there keeps its other text. In sim, time is virtual, and the
same command gives the same files. On docker only ratios of times mean
something.`,
		Example: `  lockcheck bench contention
  lockcheck bench contention --on docker
  lockcheck bench contention --clients 2,20,200 --for 10m
  lockcheck bench contention --out docs
  lockcheck bench herd
  lockcheck bench herd --on docker --clients 2,8,32
  lockcheck bench fairness
  lockcheck bench fairness --on docker --clients 4,16`,
		Annotations: map[string]string{keepsFiles: "yes"},
		ValidArgs:   names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Usage, "bench what? %s", strings.Join(names, ", "))
			}
			if len(args) > 1 {
				return exit.Errorf(exit.Usage, "measure one thing at a time: leave out %s", strings.Join(args[1:], " "))
			}
			for _, b := range benches {
				if b.name == args[0] {
					return b.run(a, cmd, f)
				}
			}
			return ask.Unknown("bench", args[0], names)
		},
	}
	environmentFlags(cmd, &f.environment)
	fl := cmd.Flags()
	fl.IntSliceVar(&f.clients, "clients", nil, "how many `clients` there are, in one cell after another (default 2 to 64 in sim, 2 to 16 on docker; of fairness: 2 to 32); of herd: that wait (2 to 256, 2 to 64)")
	durationFlag(fl, &f.limit, "for", 0, "how long each cell is measured (default 20 T in sim, 2 T on docker; of fairness: 100 T, 8 T; of herd: 10s)")
	fl.Uint64Var(&f.seed, "seed", 1, "the `seed` of every cell; in sim")
	fl.IntVar(&f.jobs, "jobs", 0, "cells at once (default: one for each core); in sim")
	return cmd
}

// maxContenders is the most clients that one process can run without becoming the
// bottleneck that is measured.
const maxContenders = 1000

// numbers returns the values of --clients, sorted, or the default ones.
func (f *benchFlags) numbers(cmd *cobra.Command, usual []int, least, most int) ([]int, error) {
	if !cmd.Flags().Changed("clients") {
		return usual, nil
	}
	list := slices.Clone(f.clients)
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 || list[0] < least || list[len(list)-1] > most {
		return nil, exit.Errorf(exit.Usage, "--clients: a list of numbers from %d to %d, for example: --clients 2,8,32", least, most)
	}
	return list, nil
}

// ofSim rejects a wrong --jobs, and flags that have a meaning only in sim.
func (f *benchFlags) ofSim(cmd *cobra.Command, p *batch.Runner) error {
	changed := cmd.Flags().Changed
	if err := ask.Numbers(changed, ask.Number("jobs", f.jobs, harness.MostJobs)); err != nil {
		return err
	}
	if p.Name() != "sim" && (changed("seed") || changed("jobs")) {
		return exit.Errorf(exit.Usage, "--seed and --jobs are for sim: real time does not repeat, and cells must not disturb each other")
	}
	return nil
}

// comparison returns the comparison that the flags ask for.
func (f *benchFlags) comparison(cmd *cobra.Command, p *batch.Runner, of *bench.Contest) (c *bench.Comparison, err error) {
	c = of.Compare(p.Name(), p.BaseLease())
	changed := cmd.Flags().Changed
	if changed("seed") {
		c.Seed = f.seed
	}
	if changed("for") {
		c.For = f.limit
	}
	most := maxContenders
	if p.Name() != "sim" {
		most = of.Most
	}
	if c.Clients, err = f.numbers(cmd, c.Clients, 1, most); err != nil {
		return nil, err
	}
	if c.For < of.Shortest*p.BaseLease() || c.For > 1000*p.BaseLease() {
		return nil, exit.Errorf(exit.Usage, "--for %v: it has to be from %d to 1000 leases, which last %v", c.For, of.Shortest, p.BaseLease())
	}
	if p.BaseLease() < of.Least {
		return nil, exit.Errorf(exit.Usage, "--lease %v: for %s it has to be at least %v", p.BaseLease(), of.Name, of.Least)
	}
	return c, f.ofSim(cmd, p)
}

// contest measures the variants of a contest and compares them.
func (a *app) contest(cmd *cobra.Command, f benchFlags, of *bench.Contest, serve server) error {
	p, err := a.open(cmd.Context(), f.environment)
	if err != nil {
		return err
	}
	c, err := f.comparison(cmd, p, of)
	if err = cmp.Or(err, a.Out.CanKeep()); err != nil {
		return err
	}
	done := a.benchProgress(len(c.Sides) * len(c.Clients))
	if p.Name() == "sim" {
		err = c.CompareInSim(p.Ctx, f.jobs, done)
	} else {
		err = a.compareOnDocker(p, c, serve, done)
	}
	return a.compared(p, c.Cells != nil, err, func() (*bench.Result, any) { return c.Result(), bench.NewDocument(c) })
}

// contention compares ways to wait for one lock.
func (a *app) contention(cmd *cobra.Command, f benchFlags) error {
	return a.contest(cmd, f, bench.Contention, docker.Redis)
}

// fairness compares locks that have a queue with a lock that has none.
func (a *app) fairness(cmd *cobra.Command, f benchFlags) error {
	return a.contest(cmd, f, bench.Fairness, mysqlServer)
}

// mysqlServer starts a MySQL server that has room for all clients of a cell at once.
func mysqlServer(ctx context.Context, o docker.Options) (addr string, remove func(context.Context) error, err error) {
	s, err := docker.MySQL(ctx, o, "--max-connections=1000")
	if err != nil {
		return "", nil, err
	}
	return s.Addr, s.Close, nil
}

// compared shows the measurements and saves them. err is the error that ended
// measuring; measured reports whether there is anything to show.
func (a *app) compared(p *batch.Runner, measured bool, err error, shown func() (*bench.Result, any)) error {
	a.ClearProgress()
	if err != nil && !p.Interrupted() || !measured {
		return err
	}
	r, document := shown()
	if a.JSON {
		err = errors.Join(err, a.PrintJSON(document))
	}
	bench.Print(a.Terminal, r)
	if err != nil { // an incomplete picture is not shown
		return err
	}
	return bench.Keep(a.Terminal, a.Out.Path, r)
}

// server starts a server and returns its address and a function that removes it.
type server func(context.Context, docker.Options) (addr string, remove func(context.Context) error, err error)

// compareOnDocker measures with a server of its own.
func (a *app) compareOnDocker(p *batch.Runner, c *bench.Comparison, serve server, done func(int)) (err error) {
	addr, remove, err := serve(p.Ctx, docker.Options{Log: a.Stderr})
	if err == nil {
		err = c.CompareOnServer(p.Ctx, addr, done)
		err = errors.Join(err, remove(context.WithoutCancel(p.Ctx)))
	}
	return failedServer(p, err)
}

// failedServer returns the error for a failed measurement on real servers. It blames the
// environment, unless somebody interrupted the command.
func failedServer(p *batch.Runner, err error) error {
	if err != nil && !p.Interrupted() {
		return exit.Errorf(exit.Unavailable, "%w", err)
	}
	return err
}

// benchProgress shows the number of finished cells on a terminal.
func (a *app) benchProgress(cells int) func(int) {
	return func(done int) { a.ShowProgress(fmt.Sprintf("%d of %s ", done, names.Count(cells, "cell"))) }
}

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
	return a.compared(p, h.Cells != nil, err, func() (*bench.Result, any) { return h.Result(), bench.NewHerdDocument(h) })
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
