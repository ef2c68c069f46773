package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

func (a *app) shrinkCommand() *cobra.Command {
	var property string
	var worker bool
	cmd := &cobra.Command{
		Use:   "shrink FILE…",
		Short: "Find the shortest schedule that still breaks what this one breaks",
		Long: `Takes a saved schedule (schedule.json, or the history.jsonl beside it) whose run
violates a property, and looks for the shortest run of the same lock, under the
same kinds of faults, that violates the same property. What it finds is told and
kept below --out, in NAME/shrunk-PROPERTY beside the files of the run NAME. It
is a schedule like any other, and promises the property that it was shrunk for.

One file gives one result, always: the search has a budget of events, not of
time. "run" shrinks the first violation of each property by itself. What was
recorded on docker does not repeat, and the schedules of cases are written by
hand: neither can be shrunk.

Exit code 0: shrunk. 2: there was nothing to shrink.`,
		Example: `  lockcheck shrink lockcheck-out/redis-set-lua-pause-1/schedule.json
  lockcheck shrink --property resource redis-set-lua-pause-1/history.jsonl`,
		Args:        needArgs("FILE", "lockcheck shrink lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var pr checker.Promise
			if property != "" {
				var err error
				if pr, err = parsePromise([]string{property}); err != nil {
					return err
				}
			}
			if err := a.out.CanKeep(); err != nil {
				return err
			}
			return a.eachFile(cmd, args, nil, func(file string) (verdictDocument, int, error) {
				return a.shrink(cmd, file, pr, worker)
			})
		},
	}
	cmd.Flags().StringVar(&property, "property", "", "the `property` to shrink for (default: the first that is promised and violated)")
	workerFlag(cmd, &worker)
	return cmd
}

// shrink minimises the run of one file.
func (a *app) shrink(cmd *cobra.Command, file string, pr checker.Promise, worker bool) (doc verdictDocument, code int, err error) {
	plan, err := rundir.ReadPlan(file)
	if err != nil {
		return doc, 0, err
	}
	if err := cmp.Or(allowed(plan, file, worker), shrinkable(plan, file)); err != nil {
		return doc, 0, err
	}
	if len(pr) == 0 {
		pr = a.recorded(plan.Promises, file)
	}
	p, err := a.open(cmd, placeFlags{on: plan.On, lease: plan.Lease})
	if err != nil {
		return doc, 0, err
	}
	name := rundir.Name(plan)
	j, _, err := p.execute(plan, name)
	if err != nil {
		return doc, 0, err
	}
	i := slices.IndexFunc(j.Verdicts, func(v checker.Verdict) bool {
		return v.Outcome == checker.Violated && pr.Covers(v.Property)
	})
	if i < 0 {
		return doc, 0, exit.Errorf(exit.Unproven, "nothing to shrink: the run of %s does not violate %s", file, promisedWords(pr))
	}
	s, err := a.shrinkFor(p, j, j.Verdicts[i].Property, name)
	if err != nil {
		return doc, 0, err
	}
	if err := a.tellShrunk(s, fmt.Sprintf("%s, seed %d", plan.Lock, plan.Seed)); err != nil {
		return doc, 0, err
	}
	a.Printf("Files    %s\n", s.dir)
	a.ReplayLine(s.dir)
	a.Printf("\n")
	doc.Verdict = rundir.NewVerdict(s.judged.Verdicts, s.judged.Reached)
	doc.File, doc.Shrunk = filepath.Join(s.dir, rundir.HistoryFile), s.judged.Plan.Shrunk
	return doc, a.Disputed(file, s.judged.Verdicts, exit.Held), nil
}

// promisedWords lists the promised properties for a sentence.
func promisedWords(pr checker.Promise) string {
	if len(pr) == 0 {
		return "any property"
	}
	return strings.Join(pr.Strings(), ", ")
}

// shrinkable returns an error if a plan cannot be minimised.
func shrinkable(plan *harness.Plan, file string) error {
	switch {
	case plan.On != "sim":
		return exit.Errorf(exit.Usage, "%s cannot be shrunk: it was recorded on %s, where time is real and no run repeats. What happens in sim can: lockcheck run %s", file, plan.On, plan.Lock)
	case plan.Scripts != nil:
		return exit.Errorf(exit.Usage, "%s cannot be shrunk: its clients follow scripts that somebody wrote. To find the shortest run by itself: lockcheck run %s", file, plan.Lock)
	}
	return nil
}

// shrunkRun is a run that was minimised for a property, and the directory of its files.
type shrunkRun struct {
	property checker.Property
	judged   *harness.Judged
	dir      string
	took     time.Duration // 0: it was minimised earlier
}

// shrinkFor minimises a run for a property that it violates, runs the result with
// everything recorded, and writes its files below those of the run called name. After
// an interrupt it returns the shortest run so far.
func (a *app) shrinkFor(p *place, j *harness.Judged, property checker.Property, name string) (s shrunkRun, err error) {
	s.property = property
	start := time.Now()
	short, err := explore.Shrink(p.ctx, sim.Simulator, j, property, explore.ShrinkBudget)
	if err != nil {
		return s, err
	}
	s.took = time.Since(start)
	name = filepath.Join(name, "shrunk-"+string(property))
	if s.judged, _, err = p.execute(short, name); err != nil {
		return s, err
	}
	if s.dir, err = p.save(name, s.judged); err != nil {
		return shrunkRun{}, err // the story is then that of the original run
	}
	if got := s.judged.Outcome(property); got != checker.Violated {
		return s, exit.Errorf(exit.Bug, "the run of %s with seed %d was shrunk to one that violates %s, and did not when it was repeated (%s; %s)",
			short.Lock, short.Seed, property, got, s.dir)
	}
	return s, nil
}

// shrinkKept minimises the first violation of each property for which some returns
// true, from the kept runs of a batch. It works in parallel, which does not affect the
// result.
func (a *app) shrinkKept(p *place, s *explore.Settings, r *explore.Result, kept map[int]keptRun, some func(checker.Property) bool) (map[checker.Property]shrunkRun, error) {
	jobs := s.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var group sync.WaitGroup
	turn := make(chan struct{}, jobs)
	runs := make([]shrunkRun, len(checker.Properties))
	errs := make([]error, len(checker.Properties))
	for i, prop := range checker.Properties {
		if r.Outcome(prop) != checker.Violated || !some(prop) {
			continue
		}
		j := kept[r.Outcomes[prop].First[checker.Violated]].judged
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if p.interrupted() {
				return
			}
			errs[i] = exit.Guard(func() (err error) {
				runs[i], err = a.shrinkFor(p, j, prop, p.runName(j.Plan))
				return err
			})
		})
	}
	group.Wait()
	short := map[checker.Property]shrunkRun{}
	for i, s := range runs {
		if s.judged != nil {
			short[checker.Properties[i]] = s
		}
	}
	return short, errors.Join(errs...)
}

// tellShrunk prints the story of a minimised run under a title.
func (a *app) tellShrunk(s shrunkRun, title string) error {
	if a.JSON {
		return nil
	}
	if !a.Quiet {
		a.Heading(title + ", shrunk for " + string(s.property))
		if err := a.Story(s.judged.History, s.judged.Verdicts, checker.Promise{s.property}); err != nil {
			return err
		}
	}
	words := fmt.Sprintf("%s; %s", s.judged.Plan.Shrunk, plural(s.judged.Plan.Shrunk.Replays, "replay"))
	if s.took > 0 {
		words += fmt.Sprintf(", %.1f s", s.took.Seconds())
	}
	a.Paragraph(9, words)
	a.Judges(terminal.SecondOf(s.judged.Verdicts))
	return nil
}
