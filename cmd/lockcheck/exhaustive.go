package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
)

// exhaustive is the strategy that searches all possible orders.
const exhaustive = "exhaustive"

// exhaustively sets the bounds of a search: only small ones can be searched completely.
// It rejects flags and workloads that do not fit.
func (f *runFlags) exhaustively(given func(flag string) bool, s *explore.Settings) error {
	for _, flag := range []string{"seed", "depth", "worker", "keep"} {
		if given(flag) {
			return exit.Errorf(exit.Usage, "--strategy %s goes through everything, so there is nothing for --%s to decide", exhaustive, flag)
		}
	}
	if len(s.Workloads) > 1 {
		return exit.Errorf(exit.Usage, "--strategy %s goes through one workload at a time: leave out all but one of %s", exhaustive, strings.Join(f.does, ","))
	}
	if err := explore.SearchableWorkload(s.Workloads[0]); err != nil {
		return exit.Errorf(exit.Usage, "--strategy %s: %w", exhaustive, err)
	}
	if f.environment.on == "docker" {
		return exit.Errorf(exit.Usage, "--strategy %s decides what happens next, and on docker nobody does: leave out --on docker", exhaustive)
	}
	s.Clients, s.Acquires, s.Count = asked(f.clients, explore.Exactly(2)), asked(f.acquires, explore.Exactly(1)), asked(f.count, explore.Exactly(1))
	return nil
}

// runExhaustive searches all possible orders of each lock, under one kind of fault
// after the other. A limit that a flag sets is for all searches together.
func (a *app) runExhaustive(p *batch.Runner, ids []string, s explore.Settings, pr checker.Promise, f runFlags, doc *results.Document) error {
	var end time.Time
	if s.For > 0 {
		end = time.Now().Add(s.For)
	}
	options := s.Options
	ids, err := a.searchableLocks(ids)
	if err != nil {
		return err
	}
	if s.Kinds, err = a.searchable(s.Kinds); err != nil {
		return err
	}
	if ids, err = a.fitting(ids, func(id string) error {
		_, err := a.taken(id, s.Workloads, f.does)
		return err
	}); err != nil {
		return err
	}
	kinds := s.Kinds
	return a.runEach(p, ids, doc, func(id string) error {
		s.Lock, s.Options, s.Kinds = id, fenced(id, options, s.Fencing), kinds
		return a.exhaustLock(p, s, pr, doc, end)
	})
}

// searchableLocks removes the locks that cannot be searched.
func (a *app) searchableLocks(ids []string) (some []string, err error) {
	for _, id := range ids {
		lock, _ := catalogue.FindLock(id)
		if err = explore.SearchableLock(&lock); err != nil {
			if len(ids) > 1 {
				a.Say("lockcheck: skipped: %v\n", err)
			}
			continue
		}
		some = append(some, id)
	}
	if some == nil {
		return nil, exit.Errorf(exit.Usage, "--strategy %s: %w", exhaustive, err)
	}
	return some, nil
}

// searchable removes the faults that cannot be searched. The zero Fault means a search
// without a fault.
func (a *app) searchable(kinds []faults.Fault) (some []faults.Fault, err error) {
	for _, k := range kinds {
		if err = explore.SearchableFault(k); err != nil {
			a.Say("lockcheck: skipped: %v\n", err)
			continue
		}
		some = append(some, k)
	}
	switch {
	case kinds == nil:
		return []faults.Fault{{}}, nil
	case some == nil:
		return nil, exit.Errorf(exit.Usage, "--strategy %s: %w", exhaustive, err)
	}
	return some, nil
}

// exhaustLock searches all possible orders of one lock.
func (a *app) exhaustLock(p *batch.Runner, s explore.Settings, pr checker.Promise, doc *results.Document, end time.Time) error {
	var told *harness.Judged
	var cells []results.Cell
	var failed error
	for _, kind := range s.Kinds {
		if s.Kinds = []faults.Fault{kind}; kind.Name == "" {
			s.Kinds = nil
		}
		if name := batch.SearchName(&s, kind.Name); !s.Shard.Has(name, s.Seed) {
			cells = append(cells, batch.SearchElsewhere(&s, kind.Name, pr))
			continue
		}
		cell, shortest, err := p.Exhaust(s, pr, end, a.searchProgress(s.Lock, kind.Name))
		a.ClearProgress()
		if err == nil || outdir.Unkept(err) {
			cells, told = append(cells, cell), cmp.Or(told, shortest)
		}
		if failed = err; failed != nil || p.Interrupted() {
			break
		}
	}
	doc.Cells = append(doc.Cells, cells...)
	if a.JSON || failed != nil && !outdir.Unkept(failed) {
		return failed
	}
	if told != nil {
		if err := a.tellShortest(told, pr); err != nil {
			return err
		}
	}
	a.bounds(cells, doc.Shards)
	return failed
}

// tellShortest prints the story of the shortest violation of a search.
func (a *app) tellShortest(j *harness.Judged, pr checker.Promise) error {
	if a.JSON || a.Quiet {
		return nil
	}
	a.Heading(fmt.Sprintf("%s, the shortest schedule", j.Plan.Lock))
	return a.Story(j.History, j.Verdicts, pr)
}

// bound prints the outcome of one search.
func (a *app) bound(c *results.Cell) {
	fault, how := "no fault", "all of this bound explored"
	if c.Faults != nil {
		fault = c.Faults[0]
	}
	if !c.Bound.Complete {
		how = "bounded, not complete"
	}
	a.Paragraph(2, fmt.Sprintf("%s: %s: %s, %s, in %.1f s", fault, how, plural(c.Bound.States, "state"), plural(c.Bound.Schedules, "schedule"), c.Seconds))
	for _, out := range checker.Outcomes {
		var parts []string
		last := ""
		flush := func() {
			if last != "" {
				parts[len(parts)-1] += " (" + last + ")"
			}
		}
		for i := range c.Properties {
			p := &c.Properties[i]
			if !p.Is(out) {
				continue
			}
			words := string(p.Property)
			switch {
			case p.Counterexample != nil:
				words += fmt.Sprintf(" after %s", plural(p.Steps, "step"))
			case out == checker.NA && p.Reason != last:
				flush()
				last = p.Reason
			}
			if !p.Promised {
				words += ", not promised"
			}
			parts = append(parts, words)
		}
		flush()
		if parts != nil {
			a.Paragraph(14, fmt.Sprintf("  %s %-9s %s", a.Sign(out), out, strings.Join(parts, "; ")))
		}
	}
	a.Printf("\n")
}

// searchProgress shows the progress of a search on a terminal.
func (a *app) searchProgress(lock, fault string) func(schedules, states int) {
	if !a.ShowsProgress() {
		return nil
	}
	return func(schedules, states int) {
		a.ShowProgress(fmt.Sprintf("%s %s: %s states, %s schedules ", lock, fault, thousands(states), thousands(schedules)))
	}
}
