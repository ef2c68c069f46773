package batch

import (
	"cmp"
	"errors"
	"path/filepath"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// patience is the default limit for one kind of fault and one lock.
const patience = time.Minute

// Exhaust searches all possible orders of one lock under one kind of fault, and
// keeps the violations that it finds. shortest is the shortest schedule that breaks the
// promise of the story, or nil if none broke. If files cannot be written, it returns
// the error together with the result.
func (r *Runner) Exhaust(s explore.Settings, pr checker.Promise, end time.Time, progress func(schedules, states int)) (cell results.Cell, shortest *harness.Judged, err error) {
	switch {
	case !end.IsZero():
		s.For = max(time.Until(end), 1)
	case s.Runs == 0:
		s.For = patience
	}
	b, err := explore.Exhaustive(r.Ctx, r.Simulator(), &s, progress)
	if err != nil {
		return cell, nil, unconfirmed(err)
	}
	dirs := map[checker.Property]string{}
	for _, prop := range checker.Properties {
		j := b.Outcomes[prop].Judged
		if j == nil {
			continue
		}
		var unsaved error
		dirs[prop], unsaved = r.Out.Save(rundir.Name(j.Plan), j)
		err = cmp.Or(err, unsaved)
	}
	cell = boundCell(&s, b, pr, dirs)
	if about, ok := StoryProperty(cell.Result(), pr); ok {
		shortest = b.Outcomes[about].Judged
	}
	return cell, shortest, err
}

// unconfirmed turns a disagreement of the two judges about a search into a bug.
func unconfirmed(err error) error {
	if u := (*explore.Unconfirmed)(nil); errors.As(err, &u) {
		return exit.Errorf(exit.Bug, "%s: %w", u.Judged.Plan.Lock, err)
	}
	return err
}

// SearchName returns the name of the cell of one search.
func SearchName(s *explore.Settings, fault string) string {
	return s.Lock + " " + cmp.Or(fault, catalogue.NoFault)
}

// SearchElsewhere returns the cell of a search that belongs to another shard.
func SearchElsewhere(s *explore.Settings, fault string, pr checker.Promise) results.Cell {
	c := results.Cell{Name: SearchName(s, fault), Lock: s.Lock, On: s.On, Promises: pr, Seed: s.Seed}
	if fault != "" {
		c.Faults = []string{fault}
	}
	c.Take(explore.NewResult())
	return c
}

// boundCell returns the cell of one search for the result.
func boundCell(s *explore.Settings, b *explore.Exhausted, pr checker.Promise, dirs map[checker.Property]string) results.Cell {
	c, bound := SearchElsewhere(s, b.Fault, pr), b.Bound
	c.Runs, c.Seconds = b.Schedules, b.Took.Seconds()
	c.Bound = &bound // a copy: the rest of b is large
	for i := range c.Properties {
		p := &c.Properties[i]
		proof := b.Outcomes[p.Property]
		p.Runs[proof.Outcome.String()] = results.Tally{Count: 1, Seed: s.Seed, Reason: proof.Reason}
		if dir := dirs[p.Property]; dir != "" {
			p.Counterexample = &results.Counterexample{
				Seed: s.Seed, File: filepath.Join(dir, rundir.HistoryFile), Steps: proof.Steps,
				Replay: terminal.Replay(filepath.Join(dir, rundir.ScheduleFile)),
			}
			Explain(p.Counterexample, proof.Judged, p.Property)
		}
	}
	r := c.Result()
	uncontested(s, r)
	c.Take(r)
	return c
}
