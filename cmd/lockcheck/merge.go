package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/merge"
	"github.com/lockcheck/lockcheck/internal/results"
)

func (a *app) mergeCommand() *cobra.Command {
	var markdown bool
	var baseline string
	cmd := &cobra.Command{
		Use:   "merge DIR…",
		Short: "Join the results of shards into one",
		Long: `Joins the results of the shards of one exploration. It finds every result.json
in and below the directories, in any order, and prints the same text, or with
--json the same document, as one machine that does all runs. With --out DIR it
writes the result there, and beside it the files of the counterexamples.

Shards must have the same version, command, settings, cells and number, and the
same baseline; a baseline that is named here counts instead. A shard that is
there twice with the same content counts once; two different results of one
shard are an error (exit code 4). Missing shards are named: without them nothing
is proven (2), but a violation is one (1). It is safe to merge again: a merged
result counts only where there is no shard.

A shard refuses a directory that has a complete result (4). It does one again
that was ended early, and keeps the violations that were found then.`,
		Example: `  lockcheck run redis-set-lua --runs 10000 --shard 1/2 --out shards/1
  lockcheck run redis-set-lua --runs 10000 --shard 2/2 --out shards/2
  lockcheck merge shards
  lockcheck merge shards --out merged --json`,
		Args: needArgs("DIR", "lockcheck merge shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("out") {
				a.Out.Path = "" // nothing is written
			} else if a.Out.Path == "" {
				return exit.Errorf(exit.Usage, "--out needs the name of a directory")
			}
			if err := a.readBaseline(baseline); err != nil {
				return err
			}
			return a.merge(args, markdown)
		},
	}
	cmd.Flags().Func("out", "write the result, and the files of counterexamples, to this `directory`", func(dir string) error {
		a.Out.Path = dir
		return nil
	})
	cmd.Flags().BoolVar(&markdown, "markdown", false, "of a matrix, print the table for a pull request")
	baselineFlag(cmd.Flags(), &baseline)
	a.junitFlag(cmd)
	return cmd
}

// merge joins the results in directories.
func (a *app) merge(dirs []string, markdown bool) error {
	join := &merge.Join{Say: a.Say, Out: a.Out, Known: &a.baseline}
	of, err := join.Find(dirs)
	if err != nil {
		return err
	}
	if markdown && a.JSON {
		return exit.Errorf(exit.Usage, "--json and --markdown: one of them")
	}
	switch {
	case of.Matrix != nil && (a.junit != "" || !a.baseline.None()):
		return exit.Errorf(exit.Usage, "a matrix is held against what is expected: leave out --junit and --baseline")
	case of.Matrix == nil && markdown:
		return exit.Errorf(exit.Usage, "--markdown is for shards of matrix, and these are of %s", of.Command)
	}
	doc, failed := join.Do()
	if doc.Matrix != nil {
		return a.mergedMatrix(doc, markdown, failed)
	}
	if err := a.Merged(doc); err != nil {
		return err
	}
	a.Joined(doc.Shards)
	return a.conclude(doc, failed)
}

// mergedMatrix prints a matrix, and says which shards were joined.
func (a *app) mergedMatrix(doc *results.Document, markdown bool, failed error) error {
	if err := a.Document(doc, markdown); err != nil {
		return err
	}
	if !markdown {
		a.Printf("\n")
		a.Joined(doc.Shards)
	}
	if trouble := doc.Matrix.Trouble; trouble != "" {
		failed = cmp.Or(failed, exit.Errorf(exit.Unavailable, "%s", trouble))
	}
	return cmp.Or(failed, exit.With(doc.ExitCode))
}
