package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/workloads"
)

// runFlags are the flags of run that become explore.Settings.
type runFlags struct {
	environment environmentFlags
	faults      []string
	does        []string // workloads
	count       int
	mixed       bool
	seed        uint64
	runs        int
	limit       time.Duration
	clients     int
	acquires    int
	fencing     string
	options     string
	strategy    string
	depth       int
	worker      string
	keep        string
	jobs        int
	noShrink    bool
	promise     []string
	shard       explore.Shard
	baseline    string
}

func (f *runFlags) define(cmd *cobra.Command) {
	f.environment.define(cmd)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.faults, "fault", []string{"all"}, "kinds of `faults`, one of which strikes in each run: names, all, none (no fault); -NAME takes one out")
	fl.StringSliceVar(&f.does, "workload", []string{workloads.AsUsual}, "what clients do: `workloads`, one of which is drawn for each run: names, all; -NAME takes one out (see: lockcheck list workloads)")
	fl.IntVar(&f.count, "faults", 0, "how many faults strike in a run (default: 1, sometimes 2)")
	fl.BoolVar(&f.mixed, "mix", false, "let the faults of one run be of different kinds")
	fl.Uint64Var(&f.seed, "seed", 0, "the first run's `seed` (default: drawn, and printed; with --shard 1)")
	fl.IntVar(&f.runs, "runs", 0, "how many runs (default: 1000 in sim, 1 on docker; without a limit with --for)")
	durationFlag(fl, &f.limit, "for", 0, "stop after this `time`, or after --runs, whichever comes first; what was found is shrunk then")
	fl.IntVar(&f.clients, "clients", 0, "how many clients (default: 2 to 5, drawn for each run; 5 on docker; 2 if exhaustive)")
	fl.IntVar(&f.acquires, "acquires", 0, "how often each of them takes the lock (default: 1 to 20, drawn; 20 on docker; 1 if exhaustive)")
	fl.StringVar(&f.fencing, "fencing", "", "the guarded resource refuses stale tokens; =writes: on writes only")
	fl.Lookup("fencing").NoOptDefVal = "all"
	fl.StringVar(&f.options, "option", "", "`options` of the lock, as token,spin (see: lockcheck list locks)")
	fl.StringVar(&f.strategy, "strategy", strategies[0], "how to look: "+strings.Join(strategies, ", ")+" (see docs/pct.md, docs/exhaustive.md)")
	fl.IntVar(&f.depth, "depth", 0, "with pct: how many `orders` of events a bug needs (default: 1 to 4, drawn for each run)")
	fl.StringVar(&f.worker, "worker", "", "`command` of a worker that brings its own lock, with quotes as in a shell; with --on docker. It is kept in schedule.json: secrets belong in the environment")
	fl.StringVar(&f.keep, "keep", "violations", "whose files to keep: violations, all")
	fl.IntVar(&f.jobs, "jobs", 0, "runs at once (default: one for each core)")
	fl.BoolVar(&f.noShrink, "no-shrink", false, "leave the violations that are kept as long as they are")
	promiseFlag(cmd, &f.promise)
	shardFlag(fl, &f.shard)
	baselineFlag(fl, &f.baseline)
}

// settings turns the flags into the common settings of all runs. given reports whether
// a flag was set.
func (f *runFlags) settings(given func(flag string) bool) (s explore.Settings, pr checker.Promise, err error) {
	if err := f.validate(given); err != nil {
		return s, nil, err
	}
	kinds, err := parseFaults(f.faults)
	if err != nil {
		return s, nil, err
	}
	does, err := parseWorkloads(f.does)
	if err != nil {
		return s, nil, err
	}
	if f.mixed && slices.ContainsFunc(kinds, func(k faults.Fault) bool { return k.Name == "" }) {
		return s, nil, exit.Errorf(exit.Usage, "--mix lets faults of several kinds strike in one run: leave out none")
	}
	if pr, err = parsePromise(f.promise); err != nil {
		return s, nil, err
	}
	s = explore.Settings{
		Clients: asked(f.clients, explore.AnyClients), Acquires: asked(f.acquires, explore.AnyAcquires),
		Fencing: history.Fencing(f.fencing), Workloads: does,
		Kinds: kinds, Mixed: f.mixed, Count: asked(f.count, explore.AnyCount), Promises: pr.Strings(),
		Seed: f.seed, Runs: f.runs, For: f.limit, Jobs: f.jobs, Shard: f.shard,
	}
	if err := f.strategic(given, &s); err != nil {
		return s, nil, err
	}
	if s.Options, err = parseOptions(f.options); err != nil {
		return s, nil, err
	}
	if !given("seed") {
		s.Seed = uint64(rand.Uint32())
		if f.shard.Of > 0 {
			s.Seed = 1 // all machines need the same seed
		}
	}
	if s.For > 0 && s.Runs == 0 {
		s.Runs = batch.Unlimited
	}
	if f.worker != "" {
		if s.Worker, err = suite.Command(f.worker); err != nil {
			return s, nil, exit.Errorf(exit.Usage, "--worker: %w", err)
		}
		if err := startable(s.Worker[0]); err != nil {
			return s, nil, exit.Errorf(exit.Usage, "--worker: %w", err)
		}
	}
	return s, pr, nil
}

// startable returns an error if a worker's program cannot be started. Without this
// check it would look as if the environment had failed.
func startable(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w", program, rundir.WithoutPath(errors.Unwrap(err)))
	}
	return nil
}

// asked returns the range of the value of a flag, or the default range if it is not
// set.
func asked(n int, otherwise explore.Range) explore.Range {
	if n > 0 {
		return explore.Exactly(n)
	}
	return otherwise
}

// validate checks the values of the flags.
func (f *runFlags) validate(given func(flag string) bool) error {
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"strategy", f.strategy, strategies},
		{"keep", f.keep, []string{"violations", "all"}},
		{"fencing", f.fencing, []string{"", "all", "writes"}},
	} {
		if err := choice(c.flag, c.value, c.allowed...); err != nil {
			return err
		}
	}
	if err := numbers(given, []number{
		{"runs", f.runs, harness.MostRuns},
		{"jobs", f.jobs, harness.MostJobs},
		{"faults", f.count, harness.MostFaults},
		{"clients", f.clients, harness.MostClients},
		{"acquires", f.acquires, harness.MostAcquires},
	}); err != nil {
		return err
	}
	if f.limit <= 0 && given("for") {
		return exit.Errorf(exit.Usage, "--for %v: it has to be more than 0", f.limit)
	}
	if len(strings.Fields(f.worker)) == 0 && given("worker") {
		return exit.Errorf(exit.Usage, "--worker needs a command, for example: --worker 'python3 worker.py'")
	}
	return nil
}

// fenced returns the options of a lock, with tokens if its accesses carry tokens.
func fenced(id string, o catalogue.Options, f history.Fencing) catalogue.Options {
	if f == history.FencingOff {
		return o
	}
	lock, _ := catalogue.FindLock(id)
	return o.Fenced(&lock)
}

// fits returns an error if a lock does not support the options.
func fits(id string, options catalogue.Options) error {
	lock, _ := catalogue.FindLock(id)
	for o := range strings.SplitSeq(options.String(), ",") {
		if o == "" || slices.Contains(lock.Options, o) {
			continue
		}
		if near := names.Nearest(o, lock.Options); len(near) > 0 {
			return exit.Errorf(exit.Usage, "%s has no option %s; did you mean %s?", id, o, strings.Join(near, " or "))
		}
		var have []string
		for _, l := range catalogue.Locks {
			if slices.Contains(l.Options, o) {
				have = append(have, l.ID)
			}
		}
		return exit.Errorf(exit.Usage, "%s has no option %s; these have: %s", id, o, names.Some(have))
	}
	return nil
}

// available removes the faults that the environment does not offer. own reports whether
// its clients are a user's workers.
func (a *app) available(p *batch.Runner, kinds []faults.Fault, own bool) ([]faults.Fault, error) {
	var some []faults.Fault
	var reasons []string
	for _, k := range kinds {
		if err := k.Available(batch.Offers(p.Name(), own)); err != nil {
			reasons = append(reasons, err.Error())
			a.Say("lockcheck: skipped: %v\n", err)
			continue
		}
		some = append(some, k)
	}
	if len(kinds) > 0 && len(some) == 0 {
		return nil, exit.Errorf(exit.Usage, "none of these faults applies on %s: %s", p.Name(), strings.Join(reasons, "; "))
	}
	return some, nil
}

// applicable removes the faults that do not apply to a lock.
func (a *app) applicable(p *batch.Runner, id string, kinds []faults.Fault, asked []string) ([]faults.Fault, error) {
	lock, known := catalogue.FindLock(id)
	return applying(a, kinds, "faults", func(k faults.Fault) (string, error) {
		if !known {
			return k.Name, nil // a user's own lock
		}
		// Random runs use the server set-up that a fault needs.
		return k.Name, cmp.Or(lock.Applies(k, catalogue.Server{}), p.Strikes(&lock, k))
	}, asked)
}

// taken removes the workloads that do not fit a lock.
func (a *app) taken(id string, does []workloads.Workload, asked []string) ([]workloads.Workload, error) {
	lock, _ := catalogue.FindLock(id)
	return applying(a, does, "workloads", func(w workloads.Workload) (string, error) { return w.Name, lock.Takes(w) }, asked)
}

// applying returns the items of a list that apply. It prints a message for each item
// that was named itself and does not apply, and returns an error if no item is left.
func applying[T any](a *app, list []T, what string, applies func(T) (name string, err error), asked []string) (some []T, err error) {
	var reasons []string
	for _, it := range list {
		name, err := applies(it)
		if err == nil {
			some = append(some, it)
			continue
		}
		reasons = append(reasons, err.Error())
		if slices.Contains(asked, name) {
			a.Say("lockcheck: skipped: %v\n", err)
		}
	}
	if len(list) > 0 && len(some) == 0 {
		return nil, exit.Errorf(exit.Usage, "none of these %s applies: %s", what, strings.Join(reasons, "; "))
	}
	return some, nil
}
