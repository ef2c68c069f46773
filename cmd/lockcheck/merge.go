package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/terminal"
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
			return a.merge(args, markdown, a.Out.Path)
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

// merge joins the results in directories, and writes the joined one to out if that is
// not "".
func (a *app) merge(dirs []string, markdown bool, out string) error {
	found, err := a.findResults(dirs)
	if err != nil {
		return err
	}
	parts, shards, err := a.choose(found)
	if err != nil {
		return err
	}
	if out != "" {
		if err := cmp.Or(a.Out.CanKeep(), outdir.OwnResult(out), apart(out, parts)); err != nil {
			return err
		}
	}
	if markdown && a.JSON {
		return exit.Errorf(exit.Usage, "--json and --markdown: one of them")
	}
	switch of := parts[0]; {
	case of.Matrix != nil && (a.junit != "" || !a.baseline.None()):
		return exit.Errorf(exit.Usage, "a matrix is held against what is expected: leave out --junit and --baseline")
	case of.Matrix == nil && markdown:
		return exit.Errorf(exit.Usage, "--markdown is for shards of matrix, and these are of %s", of.Command)
	}
	var docs []*results.Document
	for _, p := range parts {
		docs = append(docs, p.Document)
	}
	doc := results.Merge(docs, shards)
	failed := a.collect(doc, found, out)
	for x := range doc.Counterexamples {
		x.Replay = terminal.Replay(x.Schedule())
	}
	a.baseline.Compare(doc)
	doc.DecideAfter(failed)
	if out != "" && failed == nil {
		failed = a.Out.Leave(doc)
		doc.DecideAfter(failed)
	}
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

// choose returns the results that make up one exploration.
func (a *app) choose(found []results.Source) (parts []*results.Source, shards *results.Shards, err error) {
	for _, f := range found {
		if f.Matrix == nil {
			a.baseline.Replace(&f.Head)
		}
	}
	parts, shards, err = results.Choose(found)
	if err != nil {
		return nil, nil, exit.Errorf(exit.Usage, "%w", err)
	}
	for _, f := range found {
		if f.Merged() && !parts[0].Merged() {
			a.Say("lockcheck: %s is left out: it was merged, and there are shards\n", f.File())
		}
	}
	if parts[0].Matrix == nil {
		err = a.baseline.Note(&parts[0].Head)
	}
	return parts, shards, err
}

// apart makes sure that merging overwrites only an older merged result. It returns an
// error if out has a shard, the result of another command, or the result of one
// machine.
func apart(out string, parts []*results.Source) error {
	was := outdir.HeadIn(out)
	switch s := was.Shards; {
	case was.Command == "":
	case was.Command != parts[0].Command, s == nil && !wholeOf(parts, out):
		return exit.Errorf(exit.Usage, "--out %s has the result of lockcheck %s already: name another directory", out, was.Command)
	case s != nil && !was.Merged() && len(s.Have) == 1:
		return exit.Errorf(exit.Usage, "--out %s holds shard %d of %d itself: name another directory", out, s.Have[0], s.Of)
	}
	return nil
}

// wholeOf reports whether the result in a directory is one of the parts, or equals one.
// That result comes from one machine, or was merged from a single shard.
func wholeOf(parts []*results.Source, dir string) bool {
	was, err := results.Read(dir)
	return err == nil && slices.ContainsFunc(parts, func(p *results.Source) bool { return p.Essence() == was.Essence() })
}

// errNoResults explains where results come from, for the case that none were found.
var errNoResults = errors.New("a shard leaves its result when it ends, as: lockcheck run LOCK --shard 1/4 --out DIR")
