// Package suiterun runs a suite: it replays the counterexamples of the past, explores the
// cells of the file within the time there is, and keeps new counterexamples. It writes the
// result, and prints messages and progress only.
package suiterun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Run is one run of a suite.
type Run struct {
	*terminal.Terminal
	Out   *outdir.Dir
	Flags Flags
	// Open opens an environment. Unopened describes one that may not be there.
	Open     func(context.Context, ask.Environment) (*batch.Runner, error)
	Unopened func(on string) *batch.Runner

	known    results.KnownViolations // see Read
	misspoke error                   // of the first worker that breaks the protocol
}

// Flags are the flags of suite; they override the file.
type Flags struct {
	Seed     uint64
	Runs     int
	Limit    time.Duration
	Jobs     int
	Baseline string
	Shard    explore.Shard
	Given    func(flag string) bool
	Schema   bool
}

// defaultDir is the default directory of kept counterexamples.
const defaultDir = "regressions"

// Validate checks the values of the flags.
func (f *Flags) Validate() error {
	if f.Limit <= 0 && f.Given("for") {
		return exit.Errorf(exit.Usage, "--for %v: it has to be more than 0", f.Limit)
	}
	return ask.Numbers(f.Given, ask.Number("runs", f.Runs, harness.MostRuns), ask.Number("jobs", f.Jobs, harness.MostJobs))
}

// unusable explains every mistake in a suite's file at its line.
func unusable(file string, err error) error {
	if ps := suite.Problems(nil); errors.As(err, &ps) {
		return exit.Errorf(exit.Usage, "%s cannot be used\n%w", file, ps.In(file))
	}
	return err
}

// File is a suite that has been read.
type File struct {
	name  string
	text  []byte
	Suite *suite.Suite
}

// Read reads a suite, and the known violations.
func (run *Run) Read(name string) (*File, error) {
	text, err := rundir.ReadUpTo(name, mostMiB, "a suite")
	if errors.Is(err, fs.ErrNotExist) && name == suite.File {
		return nil, exit.Errorf(exit.Usage, "no file %s: lockcheck init writes one", name)
	} else if err != nil {
		return nil, rundir.Unread(name, err)
	}
	s, err := run.here().Parse(text)
	if err != nil {
		return nil, unusable(name, err)
	}
	if run.Flags.Given("baseline") {
		run.known, err = results.ReadKnown(run.Flags.Baseline, run.Out.Path)
	}
	return &File{name, text, s}, err
}

// mostMiB is the largest size of a suite's file.
const mostMiB = 16

// here checks what a suite needs on this machine: that workers can be started, and that
// counterexamples are apart from --out. It also reads the suite's baseline, unless a
// flag names one.
func (run *Run) here() suite.Here {
	here := suite.Here{
		"worker": func(command string) error {
			words, err := suite.Command(command)
			if err != nil {
				return nil // the message for that exists already
			}
			if err := ask.Startable(words[0]); err != nil {
				return fmt.Errorf("worker %w", err)
			}
			return nil
		},
		"regressions": func(dir string) error {
			if run.Out.Path == "" {
				return nil // nothing can overlap it, and the message for --out exists already
			}
			_, err := keptSchedules(dir, run.Out.Path)
			return err
		},
	}
	if !run.Flags.Given("baseline") {
		here["baseline"] = func(file string) (err error) {
			if run.known, err = results.ReadKnown(file, run.Out.Path); err != nil {
				return err
			}
			return run.known.Note(&results.Head{Command: "suite", Settings: map[string]string{}})
		}
	}
	return here
}

// Do runs a suite, and completes and writes doc, which has its head. kept are the
// directories of new counterexamples. failed is the error that ended it early, err one
// before the first run.
func (run *Run) Do(ctx context.Context, file *File, doc *results.Document) (kept []string, failed, err error) {
	s := file.Suite
	start, past := time.Now(), cmp.Or(s.Regressions, defaultDir)
	doc.Settings["suite"], doc.Shards = rundir.Digest(file.text), results.Part(run.Flags.Shard)
	if err := run.known.Note(&doc.Head); err != nil {
		return nil, nil, err
	}
	replayed, err := run.regressions(past, s)
	if err != nil {
		return nil, nil, err
	}
	cells, err := run.suiteCells(ctx, s)
	if err != nil {
		return nil, nil, unusable(file.name, err)
	}
	run.noteParts(&doc.Head, replayed, cells)
	if err := run.Out.Clear(&doc.Head); err != nil {
		return nil, nil, err
	}
	doc.Cells, failed = run.exploreSuite(ctx, replayed, cells, newBudget(start, time.Duration(s.For), run.Flags))
	doc.Seconds = time.Since(start).Seconds()
	if doc.Interrupted = ctx.Err() != nil; doc.Interrupted || failed != nil {
		doc.Shards.Interrupt()
	}
	failed = cmp.Or(failed, run.misspoke)
	run.known.Compare(doc)
	run.Out.TakeEarlier(doc, &run.known, run.Say)
	kept, failed = run.keepCounterexamples(doc, past, failed)
	doc.DecideAfter(failed)
	failed = cmp.Or(failed, run.Out.Leave(doc))
	doc.DecideAfter(failed) // again, because the result may not have been written
	return kept, failed, nil
}

// exploreSuite runs a suite and returns its cells, those of kept counterexamples first.
// On error it still returns the cells so far.
func (run *Run) exploreSuite(ctx context.Context, kept []*keptCell, cells []*suiteCell, b budget) (done []results.Cell, failed error) {
	if failed = run.replayKept(ctx, kept, b); failed == nil {
		failed = run.Out.Unrepeated(run.spend(ctx, cells, b))
	}
	run.ClearProgress()
	for _, k := range kept {
		done = append(done, k.cell)
	}
	shrinking, cancel := context.WithTimeout(ctx, max(b.left(), b.shrinking))
	defer cancel()
	for _, c := range cells {
		at := *c.runner
		at.Ctx = shrinking // from now on only minimising uses it
		e, err := at.Settle(&c.settings, c.result, c.promise, false, c.promise.Covers)
		failed = cmp.Or(failed, err)
		done = append(done, c.document(e))
	}
	return done, failed
}
