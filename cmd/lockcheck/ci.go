package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/ci"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// junitFlag defines --junit. A file that cannot be written is reported before the first
// run, not after hours of runs. Like --out, the flag makes its directory. An older
// report is removed; any other existing file is an error.
func (a *app) junitFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.junit, "junit", "", "write test results for a CI server to `FILE`, as JUnit does")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("junit") {
			return nil
		}
		if a.junit == "" {
			return exit.Errorf(exit.Usage, "--junit needs the name of a file")
		}
		if rundir.SameFile(a.junit, filepath.Join(a.Out.Path, results.File)) {
			return exit.Errorf(exit.Usage, "cannot write --junit %s: the result goes there", a.junit)
		}
		err := rundir.WithoutPath(os.MkdirAll(filepath.Dir(a.junit), 0o777))
		if err = cmp.Or(err, rundir.CanWrite(a.junit, rundir.TestResults)); err != nil {
			return exit.Errorf(exit.Usage, "cannot write --junit %s: %w", a.junit, err)
		}
		if err := os.Remove(a.junit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit.Errorf(exit.Usage, "cannot write --junit %s: %w", a.junit, rundir.WithoutPath(err))
		}
		return nil
	}
}

// report writes a document, and the error that ended it early, for CI. Failing to write
// GitHub's pages never changes the exit code.
func (a *app) report(d *results.Document, ended error) error {
	r := &ci.Report{Document: d, Story: storyOf, Ended: ended}
	if file := filepath.Join(a.Out.Path, results.File); a.Out.Path != "" && rundir.Exists(file) {
		r.Rest = file
	}
	if d.Command == "suite" {
		r.File = inRepository(cmp.Or(d.Settings["arguments"], suite.File))
	}
	if a.github {
		r.Annotations(a.Stderr)
		a.annotated = ended
		if err := appendSummary(r, os.Getenv("GITHUB_STEP_SUMMARY")); err != nil {
			a.Say("lockcheck: there is no summary of this job: %v\n", err)
		}
	}
	if a.junit == "" {
		return nil
	}
	var text bytes.Buffer
	if err := r.JUnit(&text); err != nil {
		return err
	}
	if err := rundir.WriteFile(a.junit, text.Bytes()); err != nil {
		return exit.Errorf(exit.Usage, "cannot write --junit: %w", err)
	}
	return nil
}

// appendSummary appends the page of this step to the job's summary; path "" means none.
func appendSummary(r *ci.Report, path string) error {
	if path == "" {
		return nil
	}
	var page bytes.Buffer
	if err := r.Summary(&page, ci.PageBytes); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &page)
	return errors.Join(err, f.Close())
}

// annotate shows GitHub the reason why a command ended without a result. The contents
// of a document have been shown already.
func (a *app) annotate(err error) {
	e, ok := errors.AsType[*exit.Error](err)
	if !a.github || err == nil || errors.Is(err, a.annotated) || ok && e.Err == nil {
		return
	}
	var mistakes []ci.Mistake
	if in, ok := errors.AsType[*suite.InFile](err); ok {
		for _, p := range in.Problems {
			mistakes = append(mistakes, ci.Mistake{File: inRepository(in.File), Line: p.Line, Column: p.Column, Words: p.Words})
		}
	} else {
		mistakes = []ci.Mistake{{Words: err.Error()}}
	}
	ci.Complaints(a.Stderr, mistakes)
}

// unopened concludes a run of locks in an environment that cannot be set up.
func (a *app) unopened(d *results.Document, ids []string, batches map[string]*explore.Settings, pr checker.Promise, err error) error {
	needed := false
	for _, id := range ids {
		s, trouble := batches[id], err
		if !batch.Concerned(s) {
			trouble = nil
		}
		needed = needed || trouble != nil
		e := &batch.Explored{Settings: s, Result: explore.NewResult(), Promise: pr}
		d.Cells = append(d.Cells, e.Cell(id, trouble))
	}
	if needed {
		a.Say("lockcheck: %v\n", err)
	} else if !a.JSON {
		a.Printf("no run of this shard needs a place\n")
	}
	if err := a.Out.Clear(&d.Head); err != nil {
		return err
	}
	return a.conclude(d, a.leave(d, nil))
}

// storyOf returns the story file of a counterexample, that of the minimised run if
// there is one, or "".
func storyOf(x *results.Counterexample) string {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(cmp.Or(x.Shrunk, x.File)), rundir.StoryFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// inRepository returns the name of a file as GitHub writes it: from the root of the
// repository, with slashes.
func inRepository(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	path, err := filepath.Abs(file)
	if root == "" || err != nil {
		return filepath.ToSlash(file)
	}
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return filepath.ToSlash(file)
}
