package replay

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/judging"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Shrink minimises the runs of files, each for the first of the properties that it
// violates. worker allows the commands of workers in schedules.
func (to *Player) Shrink(ctx context.Context, files []string, pr checker.Promise, worker bool) error {
	return judging.Each(ctx, to.Terminal, files, nil, func(file string) (judging.Document, int, error) {
		return to.shrinkOne(ctx, file, pr, worker)
	})
}

// shrinkOne minimises the run of one file.
func (to *Player) shrinkOne(ctx context.Context, file string, pr checker.Promise, worker bool) (doc judging.Document, code int, err error) {
	plan, err := rundir.ReadPlan(file)
	if err != nil {
		return doc, 0, err
	}
	if err := cmp.Or(allowed(plan, file, worker), shrinkable(plan, file)); err != nil {
		return doc, 0, err
	}
	if len(pr) == 0 {
		pr = ask.Recorded(to.Say, plan.Promises, file)
	}
	p, err := to.Open(ctx, ask.Environment{On: plan.On, Lease: plan.Lease})
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
	if err := to.Shrunk(s, fmt.Sprintf("%s, seed %d", plan.Lock, plan.Seed)); err != nil {
		return doc, 0, err
	}
	to.Printf("Files    %s\n", s.Dir)
	to.ReplayLine(s.Dir)
	to.Printf("\n")
	doc.Verdict = rundir.NewVerdict(s.Judged.Verdicts, s.Judged.Reached)
	doc.File, doc.Shrunk = filepath.Join(s.Dir, rundir.HistoryFile), s.Judged.Plan.Shrunk
	return doc, to.Disputed(file, s.Judged.Verdicts, exit.Held), nil
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
