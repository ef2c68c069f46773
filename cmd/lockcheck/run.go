package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run LOCK…",
		Short: "Look for violations: many runs at random, under faults",
		Long: `Lets clients take a lock, read what it guards, think, write it and release,
again and again, while one kind of fault strikes in each run. Run i has the
seed S+i, and "--seed S+i --runs 1" is that run again. What happens at once is
drawn, or ordered by priorities (--strategy pct), which finds what needs a rare
order of messages. Or everything that can happen to a few clients is gone
through (--strategy exhaustive), which proves what holds within that bound.

For the first violation of each property the run's files are kept below --out,
and beside them those of the shortest run that still violates it (see: lockcheck
shrink --help). The first of these is told. On docker the files of every run are
kept, and none is shrunk: real time does not repeat.`,
		Example: `  lockcheck run redis-set-lua --fault pause
  lockcheck run 'redis-set-*' --runs 10000
  lockcheck run redis-set-lua --fault all,-restart-lost --fencing
  lockcheck run redis-set-del --fault none --workload finally
  lockcheck run redis-set-get-del --strategy pct --depth 2
  lockcheck run redis-set-lua --strategy exhaustive --fault kill --clients 3
  lockcheck run --worker 'python3 worker.py' --on docker --fault pause`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, args, f)
		},
	}
	f.define(cmd)
	a.junitFlag(cmd)
	return cmd
}

func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	if err := a.readBaseline(f.baseline); err != nil {
		return err
	}
	settings, pr, err := f.settings(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	ids, err := f.locks(args, settings)
	if err != nil {
		return err
	}
	if err := a.out.Reserve(cmd.Name(), f.shard); err != nil {
		return err
	}
	if f.strategy == exhaustive {
		settings.Seed = 1 // an exhaustive search draws nothing
	}
	doc := newDocument(cmd, args, settings.Seed)
	doc.Shards = results.Part(f.shard)
	if err := a.baseline.Note(&doc.Head); err != nil {
		return err
	}
	p, gone := a.open(cmd.Context(), f.environment)
	if gone != nil && exit.Code(gone) != exit.Unavailable {
		return gone
	}
	p.Fill(&settings)
	if settings.Kinds, err = a.available(p, settings.Kinds, f.worker == ""); err != nil {
		return err
	}
	if f.strategy == exhaustive {
		settings.Runs = f.runs
		return a.runExhaustive(p, ids, settings, pr, f, doc)
	}
	batches := map[string]*explore.Settings{}
	if ids, err = a.fitting(ids, func(id string) (err error) {
		s := settings
		s.Lock, s.Options = id, fenced(id, s.Options, s.Fencing)
		for _, promised := range pr {
			if err := catalogue.Judged(id, promised, p.Name(), s.Options.Tokens()); err != nil {
				return exit.Errorf(exit.Usage, "--promise: %w", err)
			}
		}
		if s.Kinds, err = a.applicable(p, id, s.Kinds, f.faults); err != nil {
			return err
		}
		batches[id] = &s
		s.Workloads, err = a.taken(id, s.Workloads, f.does)
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

// fitting returns the locks that support the flags. It prints which of several locks do
// not, and returns an error if no lock is left.
func (a *app) fitting(ids []string, fits func(id string) error) (some []string, err error) {
	var skipped []string
	for _, id := range ids {
		if why := fits(id); why != nil {
			err = cmp.Or(err, why)
			skipped = append(skipped, fmt.Sprintf("lockcheck: %s is skipped: %v\n", id, why))
			continue
		}
		some = append(some, id)
	}
	if some == nil {
		return nil, err
	}
	for _, words := range skipped {
		a.Say("%s", words)
	}
	return some, nil
}

// runEach runs one lock after another until an interrupt, and exits with the worst
// code. An error does not lose earlier findings.
func (a *app) runEach(p *batch.Runner, ids []string, doc *results.Document, run func(id string) error) error {
	if err := a.out.Clear(&doc.Head); err != nil {
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
	failed = cmp.Or(failed, a.leaveShard(doc, failed))
	a.baselineLists(doc)
	return a.conclude(doc, failed)
}

// locks returns the locks to run: those of the arguments, or the worker's.
func (f *runFlags) locks(args []string, s explore.Settings) ([]string, error) {
	switch {
	case f.worker != "" && len(args) > 0:
		return nil, exit.Errorf(exit.Usage, "--worker brings its own lock: leave out %s", strings.Join(args, " "))
	case f.worker != "" && f.environment.on != "docker":
		return nil, exit.Errorf(exit.Usage, "--worker runs with --on docker only: a program of its own has no virtual time")
	case f.worker != "":
		return []string{"worker"}, nil
	case len(args) == 0:
		return nil, exit.Errorf(exit.Usage, "run needs a LOCK, for example: lockcheck run redis-set-lua --fault pause")
	}
	ids, err := match("lock", args, lockIDs())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := fits(id, fenced(id, s.Options, s.Fencing)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// runLock runs the batch of one lock, keeps the necessary runs, and prints the result.
func (a *app) runLock(p *batch.Runner, s *explore.Settings, pr checker.Promise, f runFlags, doc *results.Document) error {
	r, trouble := p.Batch(s, a.progress(s))
	a.ClearProgress()
	var failed error
	if trouble != nil && exit.Code(trouble) != exit.Unavailable {
		trouble, failed = nil, a.out.Unrepeated(trouble)
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
		a.complain(trouble)
	}
	if a.JSON || r.Runs == 0 && trouble != nil {
		return failed
	}
	if err := a.tell(e); err != nil {
		return err
	}
	kept := map[uint64]string{}
	for run, k := range e.Kept {
		if k.Saved {
			kept[s.Seed+uint64(run)] = k.Dir
		}
	}
	a.summary(&doc.Cells[len(doc.Cells)-1], doc.Shards, kept)
	return failed
}
