package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/rundir"
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
				if pr, err = ask.Promise([]string{property}); err != nil {
					return err
				}
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			return judging.Each(cmd.Context(), a.Terminal, args, nil, func(file string) (judging.Document, int, error) {
				return a.shrink(cmd, file, pr, worker)
			})
		},
	}
	cmd.Flags().StringVar(&property, "property", "", "the `property` to shrink for (default: the first that is promised and violated)")
	workerFlag(cmd, &worker)
	return cmd
}

// shrink minimises the run of one file.
func (a *app) shrink(cmd *cobra.Command, file string, pr checker.Promise, worker bool) (doc judging.Document, code int, err error) {
	plan, err := rundir.ReadPlan(file)
	if err != nil {
		return doc, 0, err
	}
	if err := cmp.Or(allowed(plan, file, worker), shrinkable(plan, file)); err != nil {
		return doc, 0, err
	}
	if len(pr) == 0 {
		pr = ask.Recorded(a.Say, plan.Promises, file)
	}
	p, err := a.open(cmd.Context(), ask.Environment{On: plan.On, Lease: plan.Lease})
	if err != nil {
		return doc, 0, err
	}
	name := rundir.Name(plan)
	j, _, err := p.Execute(plan, name)
	if err != nil {
		return doc, 0, err
	}
	i := slices.IndexFunc(j.Verdicts, func(v checker.Verdict) bool {
		return v.Outcome == checker.Violated && pr.Covers(v.Property)
	})
	if i < 0 {
		return doc, 0, exit.Errorf(exit.Unproven, "nothing to shrink: the run of %s does not violate %s", file, promisedWords(pr))
	}
	s, err := p.ShrinkFor(j, j.Verdicts[i].Property, name)
	if err != nil {
		return doc, 0, err
	}
	if err := a.Shrunk(s, fmt.Sprintf("%s, seed %d", plan.Lock, plan.Seed)); err != nil {
		return doc, 0, err
	}
	a.Printf("Files    %s\n", s.Dir)
	a.ReplayLine(s.Dir)
	a.Printf("\n")
	doc.Verdict = rundir.NewVerdict(s.Judged.Verdicts, s.Judged.Reached)
	doc.File, doc.Shrunk = filepath.Join(s.Dir, rundir.HistoryFile), s.Judged.Plan.Shrunk
	return doc, a.Disputed(file, s.Judged.Verdicts, exit.Held), nil
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
