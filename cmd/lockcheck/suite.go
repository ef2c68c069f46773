package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// suiteFlags are the flags of suite; they override the file.
type suiteFlags struct {
	seed     uint64
	runs     int
	limit    time.Duration
	jobs     int
	baseline string
	shard    explore.Shard
	given    func(flag string) bool
	schema   bool
}

func (a *app) suiteCommand() *cobra.Command {
	var f suiteFlags
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

A run on docker that fails because of the place is tried again once, and
counted; the last lines say whether it was the place or the lock. What came out
is left in result.json, below --out. It can serve as --baseline: what it says is
violated is listed and fails nothing.`,
		Example: `  lockcheck init && lockcheck suite
  lockcheck suite nightly.yaml --for 20m
  lockcheck suite --runs 100 --seed 7
  cp lockcheck-out/result.json known.json
  lockcheck suite --baseline known.json`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			if f.schema {
				_, err := a.Stdout.Write(suite.Schema)
				return err
			}
			return a.suite(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&f.seed, "seed", 0, "the first `seed` of every cell (default: the file's, or 1)")
	fl.IntVar(&f.runs, "runs", 0, "how many runs each cell has (default: the file's, or 1000 in sim and 1 on docker)")
	durationFlag(fl, &f.limit, "for", 0, "how much `time` there is; what is left of it goes to the cells that ran least (default: the file's)")
	fl.IntVar(&f.jobs, "jobs", 0, "runs at once in sim (default: one for each core)")
	baselineFlag(fl, &f.baseline)
	shardFlag(fl, &f.shard)
	a.junitFlag(cmd)
	fl.BoolVar(&f.schema, "schema", false, "print the JSON Schema of the file, for an editor, and do nothing else")
	return cmd
}

// validate checks the values of the flags.
func (f *suiteFlags) validate() error {
	if f.limit <= 0 && f.given("for") {
		return exit.Errorf(exit.Usage, "--for %v: it has to be more than 0", f.limit)
	}
	return ask.Numbers(f.given, ask.Number("runs", f.runs, harness.MostRuns), ask.Number("jobs", f.jobs, harness.MostJobs))
}

// mostSuite is the largest size of a suite's file in bytes.
const mostSuite = 16 << 20

// readSuiteFile reads a file of up to mostSuite bytes: a device may be endless.
func readSuiteFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSuite+1))
	if err == nil && len(text) > mostSuite {
		err = fmt.Errorf("%s is larger than %d MiB: is this a suite?", file, mostSuite>>20)
	}
	return text, err
}

// readSuite reads the file that the arguments name, and the baseline.
func (a *app) readSuite(args []string, f suiteFlags) (text []byte, s *suite.Suite, err error) {
	if len(args) > 1 {
		return nil, nil, exit.Errorf(exit.Usage, "suite takes one FILE: leave out %s", strings.Join(args[1:], " "))
	}
	file := suiteFile(args)
	text, err = readSuiteFile(file)
	if errors.Is(err, fs.ErrNotExist) && file == suite.File {
		return nil, nil, exit.Errorf(exit.Usage, "no file %s: lockcheck init writes one", file)
	} else if err != nil {
		return nil, nil, rundir.Unread(file, err)
	}
	if s, err = a.here(f).Parse(text); err != nil {
		return nil, nil, unusable(file, err)
	}
	if f.given("baseline") {
		return text, s, a.readBaseline(f.baseline)
	}
	return text, s, nil
}

// suiteFile returns the file that the arguments of suite name.
func suiteFile(args []string) string {
	if len(args) == 0 {
		return suite.File
	}
	return args[0]
}

// unusable explains every mistake in a suite's file at its line.
func unusable(file string, err error) error {
	if ps := suite.Problems(nil); errors.As(err, &ps) {
		return exit.Errorf(exit.Usage, "%s cannot be used\n%w", file, ps.In(file))
	}
	return err
}

// here checks what a suite needs on this machine: that workers can be started, and that
// counterexamples are apart from --out. It also reads the suite's baseline, unless a
// flag names one.
func (a *app) here(f suiteFlags) suite.Here {
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
			if a.out.Path == "" {
				return nil // nothing can overlap it, and the message for --out exists already
			}
			_, err := keptSchedules(dir, a.out.Path)
			return err
		},
	}
	if !f.given("baseline") {
		here["baseline"] = func(file string) error {
			if err := a.readBaseline(file); err != nil {
				return err
			}
			return a.baseline.Note(&results.Head{Command: "suite", Settings: map[string]string{}})
		}
	}
	return here
}

func (a *app) suite(cmd *cobra.Command, args []string, f suiteFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	text, s, err := a.readSuite(args, f)
	if err != nil {
		return err
	}
	if err := a.out.Reserve(cmd.Name(), f.shard); err != nil {
		return err
	}
	start, past := time.Now(), cmp.Or(s.Regressions, regressionsDir)
	doc := newDocument(cmd, args, f.seedOf(s))
	doc.Settings["suite"], doc.Shards = rundir.Digest(text), results.Part(f.shard)
	if err := a.baseline.Note(&doc.Head); err != nil {
		return err
	}
	kept, err := a.regressions(past, s)
	if err != nil {
		return err
	}
	cells, err := a.suiteCells(cmd, s, f)
	if err != nil {
		return unusable(suiteFile(args), err)
	}
	noteParts(&doc.Head, kept, cells)
	if err := a.out.Clear(&doc.Head); err != nil {
		return err
	}
	var failed error // the error that ended it early
	doc.Cells, failed = a.exploreSuite(cmd, kept, cells, f.shard, newBudget(start, time.Duration(s.For), f))
	doc.Seconds = time.Since(start).Seconds()
	if doc.Interrupted = cmd.Context().Err() != nil; doc.Interrupted || failed != nil {
		doc.Shards.Interrupt()
	}
	failed = cmp.Or(failed, a.misspoke)
	a.baseline.Compare(doc)
	a.takeEarlier(doc)
	left, failed := a.keepCounterexamples(doc, past, failed)
	doc.DecideAfter(failed)
	failed = cmp.Or(failed, a.out.Leave(doc))
	doc.DecideAfter(failed) // again, because the result may not have been written
	failed = cmp.Or(failed, a.tellSuite(doc, left))
	return a.conclude(doc, failed)
}

// exploreSuite runs a suite and returns its cells, those of kept counterexamples first.
// On error it still returns the cells so far.
func (a *app) exploreSuite(cmd *cobra.Command, kept []*keptCell, cells []*suiteCell, shard explore.Shard, b budget) (done []results.Cell, failed error) {
	if failed = a.replayKept(cmd, kept, shard, b); failed == nil {
		failed = a.out.Unrepeated(a.spend(cmd.Context(), cells, b))
	}
	a.ClearProgress()
	for _, k := range kept {
		done = append(done, k.cell)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), max(b.left(), b.shrinking))
	defer cancel()
	for _, c := range cells {
		at := *c.runner
		at.Ctx = ctx // from now on only minimising uses it
		e, err := at.Settle(&c.settings, c.result, c.promise, false, c.promise.Covers)
		failed = cmp.Or(failed, err)
		done = append(done, c.document(e))
	}
	return done, failed
}
