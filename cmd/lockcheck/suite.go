package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/internal/suiterun"
)

func (a *app) suiteCommand() *cobra.Command {
	var f suiterun.Flags
	cmd := &cobra.Command{
		Use:   "suite [FILE]",
		Short: "Hold locks to what a file says that they promise",
		Long: `Reads FILE (lockcheck.yaml), in which locks stand with the faults that strike
them and with what they promise, and holds them to it; lockcheck list keys says
what can stand there. Each lock under each of its faults is a cell. First come
the counterexamples of the past, from the directory regressions/: what they have
shown must not come back. A promise that is broken now leaves its counterexample
there.

Each cell has its runs; then the suite ends by itself. With --for, what is left
of the time goes to the cells that ran least; without it the suite ends after 30
minutes, whatever is left. That is the time for runs, and what is left of it for
shrinking, which has 5 s in any case. In sim the same command finds the same,
unless time ends it or --for gives it more.

A run on docker that fails because of the environment is tried again once, and
counted; the last lines say whether it was the environment or the lock. What came out
is left in result.json, below --out. It can serve as --baseline: what it says is
violated is listed and fails nothing.`,
		Example: `  lockcheck init && lockcheck suite
  lockcheck suite nightly.yaml --for 20m
  lockcheck suite --runs 100 --seed 7
  cp lockcheck-out/result.json known.json
  lockcheck suite --baseline known.json`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Given = cmd.Flags().Changed
			if f.Schema {
				_, err := a.Stdout.Write(suite.Schema)
				return err
			}
			return a.suite(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&f.Seed, "seed", 0, "the first `seed` of every cell (default: the file's, or 1)")
	fl.IntVar(&f.Runs, "runs", 0, "how many runs each cell has (default: the file's, or 1000 in sim and 1 on docker)")
	durationFlag(fl, &f.Limit, "for", 0, "how much `time` there is; what is left of it goes to the cells that ran least (default: the file's)")
	fl.IntVar(&f.Jobs, "jobs", 0, "runs at once in sim (default: one for each core)")
	baselineFlag(fl, &f.Baseline)
	shardFlag(fl, &f.Shard)
	a.junitFlag(cmd)
	fl.BoolVar(&f.Schema, "schema", false, "print the JSON Schema of the file, for an editor, and do nothing else")
	return cmd
}

func (a *app) suite(cmd *cobra.Command, args []string, f suiterun.Flags) error {
	if err := f.Validate(); err != nil {
		return err
	}
	if len(args) > 1 {
		return exit.Errorf(exit.Usage, "suite takes one FILE: leave out %s", strings.Join(args[1:], " "))
	}
	name := suite.File
	if len(args) > 0 {
		name = args[0]
	}
	run := a.suiteSession(f)
	file, err := run.Read(name)
	if err != nil {
		return err
	}
	if err := a.Out.Reserve(cmd.Name(), f.Shard); err != nil {
		return err
	}
	doc := newDocument(cmd, args, f.SeedOf(file.Suite))
	kept, failed, err := run.Do(cmd.Context(), file, doc)
	if err != nil {
		return err
	}
	failed = cmp.Or(failed, a.Suite(doc, kept))
	return a.conclude(doc, failed)
}

// suiteSession returns a run of a suite with these flags.
func (a *app) suiteSession(f suiterun.Flags) *suiterun.Run {
	return &suiterun.Run{
		Terminal: a.Terminal, Out: a.Out, Open: a.open, Flags: f,
		Unopened: func(on string) *batch.Runner { return a.environments().Unopened(on, 0) },
	}
}
