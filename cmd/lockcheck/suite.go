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
		Short: "Test the promises that a file lists",
		Long: `Reads FILE (lockcheck.yaml), which lists locks, their faults and their promises,
and tests every promise. lockcheck list keys lists the keys of the file. A cell
is one lock under one fault. The suite first replays the counterexamples in
regressions/. If a promise is violated, it keeps the counterexample there.

The suite ends when each cell has had its runs, and after 30 minutes at most.
With --for it uses all of that time: the rest goes to the cells that ran least.
Shrinking has what remains, and at least 5 s. In sim the same command finds the
same, unless time ends it or --for gives it more.

A run on docker that fails because of the environment is tried again once. The
last lines count such runs, and say whether the environment or the lock failed.
The result is in result.json, below --out. It can serve as --baseline: then its
violations are listed, and do not fail the suite.`,
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
