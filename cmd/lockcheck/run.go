package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/workloads"
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run LOCK…",
		Short: "Look for violations: many runs at random, under faults",
		Long: `Lets clients take a lock, read what it guards, think, write it and release,
again and again, while one kind of fault strikes in each run. Run i has the
seed S+i, and "--seed S+i --runs 1" is that run again. By default the order of
simultaneous events is drawn. --strategy pct orders them by priorities, and
finds flaws that need a rare order of messages. --strategy exhaustive searches
every order of events of a few clients, and proves what holds within that bound.

Without --promise the exit code counts what a lock of this kind can keep under
the faults that struck: no lease outlasts a pause. The rest is shown apart.

For the first violation of each property the run's files are kept below --out,
and beside them those of the shortest run that still violates it (see: lockcheck
shrink --help). The first of these is explained. On docker the files of every
run are kept, and none is shrunk: real time does not repeat. A --baseline is the
output of an earlier run with --json.`,
		Example: `  lockcheck run redis-set-lua --fault pause
  lockcheck run 'redis-set-*' --runs 10000
  lockcheck run redis-set-lua --fault all,-restart-lost --fencing
  lockcheck run redis-set-del --fault none --workload finally
  lockcheck run redis-set-get-del --strategy pct --depth 2
  lockcheck run redis-set-lua --strategy exhaustive --fault kill --clients 3
  lockcheck run --worker 'python3 worker.py' --on docker --fault pause
  lockcheck run --worker 'python3 worker.py' --on docker --store zookeeper
  lockcheck run --worker ./worker --on external --redis 127.0.0.1:6379`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, args, f)
		},
	}
	f.define(cmd)
	a.junitFlag(cmd)
	return cmd
}

// runFlags are the flags of run.
type runFlags struct {
	ask.Batch

	keep     string
	noShrink bool
	not      []string
	baseline string
}

func (f *runFlags) define(cmd *cobra.Command) {
	environmentFlags(cmd, &f.Environment)
	serverFlags(cmd, &f.Environment.Servers)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Faults, "fault", []string{"all"}, "kinds of `faults`, one of which strikes in each run: names, all, none (no fault); -NAME takes one out")
	fl.StringSliceVar(&f.Workloads, "workload", []string{workloads.AsUsual}, "what clients do: `workloads`, one of which is drawn for each run: names, all; -NAME takes one out (see: lockcheck list workloads)")
	fl.IntVar(&f.Count, "faults", 0, "how many faults strike in a run (default: 1, sometimes 2)")
	fl.BoolVar(&f.Mixed, "mix", false, "let the faults of one run be of different kinds")
	fl.Uint64Var(&f.Seed, "seed", 0, "the first run's `seed` (default: drawn, and printed; with --shard 1)")
	fl.IntVar(&f.Runs, "runs", 0, "how many runs (default: 1000 in sim, else 1; without a limit with --for)")
	durationFlag(fl, &f.Limit, "for", 0, "stop after this `time`, or after --runs, whichever comes first; what was found is shrunk then")
	fl.IntVar(&f.Clients, "clients", 0, "how many clients (default: 2 to 5, drawn for each run; 5 on docker; 2 if exhaustive)")
	fl.IntVar(&f.Acquires, "acquires", 0, "how often each of them takes the lock (default: 1 to 20, drawn; 20 on docker; 1 if exhaustive)")
	fl.StringVar(&f.Fencing, "fencing", "", "the guarded resource refuses stale tokens; =writes: on writes only")
	fl.Lookup("fencing").NoOptDefVal = "all"
	fl.StringVar(&f.Options, "option", "", "`options` of the lock, as token,spin (see: lockcheck list locks)")
	fl.StringVar(&f.Strategy, "strategy", ask.Strategies[0], "how to look: "+strings.Join(ask.Strategies, ", ")+" (see docs/pct.md, docs/exhaustive.md)")
	fl.IntVar(&f.Depth, "depth", 0, "with pct: how many `orders` of events a bug needs (default: 1 to 4, drawn for each run)")
	fl.StringVar(&f.Worker, "worker", "", "`command` of a worker that brings its own lock, with quotes as in a shell; on docker or external. It is kept in schedule.json: secrets belong in the environment")
	fl.StringVar(&f.Store, "store", "", "the servers of a worker: "+strings.Join(catalogue.WorkerStores(), ", ")+" (default: "+catalogue.WorkerStores()[0]+"; see docs/worker.md)")
	fl.StringVar(&f.Kind, "kind", "", "the `kind` of a worker's lock, which says what it can keep: lease, renewed-lease, no-expiry, session, connection (default: any that its servers can have)")
	fl.StringVar(&f.keep, "keep", "violations", "whose files to keep: violations, all")
	fl.IntVar(&f.Jobs, "jobs", 0, "runs at once (default: one for each core)")
	fl.BoolVar(&f.noShrink, "no-shrink", false, "leave the violations that are kept as long as they are")
	fl.StringSliceVar(&f.not, "not", nil, "`mechanisms` to leave out of the verdict and the story: names from the list that run prints, with or without their faults (see docs/search.md)")
	promiseFlag(cmd, &f.Promises)
	shardFlag(fl, &f.Shard)
	baselineFlag(fl, &f.baseline)
}

func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	if err := a.readBaseline(f.baseline); err != nil {
		return err
	}
	if err := ask.Choice("keep", f.keep, "violations", "all"); err != nil {
		return err
	}
	settings, pr, err := f.Settings(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	if settings.Not, err = ask.Mechanisms(f.not); err != nil {
		return err
	}
	if settings.Not != nil && f.Strategy == ask.Exhaustive {
		return exit.Errorf(exit.Usage, "--not is for random runs: a search of all orders ends with the first violation")
	}
	ids, err := f.Locks(args, settings)
	if err != nil {
		return err
	}
	if err := a.Out.Reserve(cmd.Name(), f.Shard); err != nil {
		return err
	}
	if f.Strategy == ask.Exhaustive {
		settings.Seed = 1 // an exhaustive search draws nothing
	}
	doc := newDocument(cmd, args, settings.Seed)
	doc.Shards = results.Part(f.Shard)
	if err := a.baseline.Note(&doc.Head); err != nil {
		return err
	}
	p, gone := a.open(cmd.Context(), f.Environment)
	if gone != nil && exit.Code(gone) != exit.Unavailable {
		return gone
	}
	p.Fill(&settings)
	if settings.Kinds, err = ask.AvailableFaults(a.Say, p, settings.Kinds, f.Worker == ""); err != nil {
		return err
	}
	if f.Strategy == ask.Exhaustive {
		settings.Runs = f.Runs
		return a.runExhaustive(p, ids, settings, pr, f, doc)
	}
	batches := map[string]*explore.Settings{}
	if ids, err = ask.Fitting(a.Say, ids, func(id string) (err error) {
		s := settings
		s.Lock, s.Options = id, ask.Fenced(id, s.Options, s.Fencing)
		for _, promised := range pr {
			if err := catalogue.Judged(id, promised, p.Name(), s.Options.Tokens()); err != nil {
				return exit.Errorf(exit.Usage, "--promise: %w", err)
			}
		}
		lock := f.Lock(id)
		if s.Kind, err = f.LockKind(&lock); err != nil {
			return err
		}
		if s.Kinds, err = ask.ApplicableFaults(a.Say, p, &lock, s.Kinds, f.Faults); err != nil {
			return err
		}
		batches[id] = &s
		s.Workloads, err = ask.ApplicableWorkloads(a.Say, id, s.Workloads, f.Workloads)
		return err
	}); err != nil {
		return err
	}
	if gone != nil {
		return a.unopened(doc, ids, batches, pr, gone)
	}
	return a.runEach(p, ids, doc, func(id string) error {
		return a.runLock(p, batches[id], pr, f, doc)
	})
}

// runEach runs one lock after another until an interrupt, and exits with the worst
// code. An error does not lose earlier findings.
func (a *app) runEach(p *batch.Runner, ids []string, doc *results.Document, run func(id string) error) error {
	if err := a.Out.Clear(&doc.Head); err != nil {
		return err
	}
	start := time.Now()
	var failed error
	for _, id := range ids {
		if failed = run(id); failed != nil || p.Interrupted() {
			break
		}
	}
	if failed != nil && len(doc.Cells) == 0 {
		return failed
	}
	doc.Seconds, doc.Interrupted = time.Since(start).Seconds(), p.Interrupted()
	a.baseline.Compare(doc)
	failed = cmp.Or(failed, a.leave(doc, failed))
	a.Baseline(doc)
	return a.conclude(doc, failed)
}

// runLock runs the batch of one lock, keeps the necessary runs, and prints the result.
func (a *app) runLock(p *batch.Runner, s *explore.Settings, pr checker.Promise, f runFlags, doc *results.Document) error {
	r, trouble := p.Batch(s, a.Progress(s))
	a.ClearProgress()
	var failed error
	if trouble != nil && exit.Code(trouble) != exit.Unavailable {
		trouble, failed = nil, a.Out.Unrepeated(trouble)
	}
	if failed != nil && (r == nil || r.Runs == 0) {
		return failed
	}
	shrink := checker.Promise(nil).Covers // all properties
	if f.noShrink {
		shrink = nil
	}
	e, unsettled := p.Settle(s, r, pr, f.keep == "all", shrink)
	cell := e.Cell(s.Lock, trouble)
	if cell.Cut = p.Cut(s, r, trouble); failed != nil {
		cell.Cut = batch.ErrorEnded
	}
	doc.Cells = append(doc.Cells, cell)
	if failed = cmp.Or(failed, unsettled); failed != nil && !outdir.Unkept(failed) {
		return failed
	}
	if trouble != nil {
		a.Complain(trouble)
	}
	if a.JSON || r.Runs == 0 && trouble != nil {
		return failed
	}
	if err := a.Explored(e); err != nil {
		return err
	}
	kept := map[uint64]string{}
	for run, k := range e.Kept {
		if k.Saved {
			kept[s.Seed+uint64(run)] = k.Dir
		}
	}
	a.Cell(&doc.Cells[len(doc.Cells)-1], doc.Shards, kept)
	for _, name := range r.Unseen() {
		a.Say("lockcheck: --not %s: no run violated it in this way\n", name)
	}
	return failed
}

// runExhaustive searches all possible orders of each lock, under one kind of fault
// after the other. A limit that a flag sets is for all searches together.
func (a *app) runExhaustive(p *batch.Runner, ids []string, s explore.Settings, pr checker.Promise, f runFlags, doc *results.Document) error {
	var end time.Time
	if s.For > 0 {
		end = time.Now().Add(s.For)
	}
	options := s.Options
	ids, err := ask.SearchableLocks(a.Say, ids)
	if err != nil {
		return err
	}
	if s.Kinds, err = ask.SearchableFaults(a.Say, s.Kinds); err != nil {
		return err
	}
	if ids, err = ask.Fitting(a.Say, ids, func(id string) error {
		_, err := ask.ApplicableWorkloads(a.Say, id, s.Workloads, f.Workloads)
		return err
	}); err != nil {
		return err
	}
	kinds := s.Kinds
	return a.runEach(p, ids, doc, func(id string) error {
		s.Lock, s.Options, s.Kinds = id, ask.Fenced(id, options, s.Fencing), kinds
		return a.exhaustLock(p, s, pr, doc, end)
	})
}

// exhaustLock searches all possible orders of one lock.
func (a *app) exhaustLock(p *batch.Runner, s explore.Settings, pr checker.Promise, doc *results.Document, end time.Time) error {
	var told *harness.Judged
	var cells []results.Cell
	var failed error
	for _, kind := range s.Kinds {
		if s.Kinds = []faults.Fault{kind}; kind.Name == "" {
			s.Kinds = nil
		}
		if name := batch.SearchName(&s, kind.Name); !s.Shard.Has(name, s.Seed) {
			cells = append(cells, batch.SearchElsewhere(&s, kind.Name, pr))
			continue
		}
		cell, shortest, err := p.Exhaust(s, pr, end, a.SearchProgress(s.Lock, kind.Name))
		a.ClearProgress()
		if err == nil || outdir.Unkept(err) {
			cells, told = append(cells, cell), cmp.Or(told, shortest)
		}
		if failed = err; failed != nil || p.Interrupted() {
			break
		}
	}
	doc.Cells = append(doc.Cells, cells...)
	if a.JSON || failed != nil && !outdir.Unkept(failed) {
		return failed
	}
	if told != nil {
		if err := a.Shortest(told, pr); err != nil {
			return err
		}
	}
	a.Searches(cells, doc.Shards)
	return failed
}
