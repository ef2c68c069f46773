package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/harness"
)

// exhaustive is the strategy that goes through all that can happen.
const exhaustive = "exhaustive"

// patience is how long one kind of fault may take for one lock, where no limit is set.
const patience = time.Minute

// exhaustively fixes the scope: what can be gone through is small.
func (f *runFlags) exhaustively(cmd *cobra.Command, s *explore.Settings) error {
	for _, flag := range []string{"seed", "depth", "worker", "keep"} {
		if cmd.Flags().Changed(flag) {
			return fail(usage, "--strategy %s goes through everything, so there is nothing for --%s to decide", exhaustive, flag)
		}
	}
	if len(s.Workloads) > 1 {
		return fail(usage, "--strategy %s goes through one workload at a time: leave out all but one of %s", exhaustive, strings.Join(f.does, ","))
	}
	if err := explore.SearchableWorkload(s.Workloads[0]); err != nil {
		return fail(usage, "--strategy %s: %w", exhaustive, err)
	}
	if f.place.on == "docker" {
		return fail(usage, "--strategy %s decides what happens next, and on docker nobody does: leave out --on docker", exhaustive)
	}
	s.Clients, s.Acquires, s.Count = asked(f.clients, explore.Exactly(2)), asked(f.acquires, explore.Exactly(1)), asked(f.count, explore.Exactly(1))
	return nil
}

// runExhaustive goes through all that can happen to each lock, under one kind
// of fault after the other. A limit that somebody sets is for all of it.
func (a *app) runExhaustive(p *place, ids []string, s explore.Settings, pr promise, f runFlags) error {
	doc := newRunDocument(s.Seed)
	var end time.Time
	if s.For > 0 {
		end = time.Now().Add(s.For)
	}
	options := s.Options
	ids, err := a.searchableLocks(ids)
	if err != nil {
		return err
	}
	return a.runEach(p, ids, doc, func(id string) (int, error) {
		s.Lock, s.Options = id, fenced(id, options, s.Fencing)
		if _, err := a.taken(id, s.Workloads, f.does); err != nil {
			return 0, err
		}
		return a.exhaustLock(p, s, pr, doc, end)
	})
}

// searchableLocks takes out the locks that cannot be gone through.
func (a *app) searchableLocks(ids []string) (some []string, err error) {
	for _, id := range ids {
		lock, _ := catalogue.FindLock(id)
		if err = explore.SearchableLock(&lock); err != nil {
			if len(ids) > 1 {
				a.say("lockcheck: skipped: %v\n", err)
			}
			continue
		}
		some = append(some, id)
	}
	if some == nil {
		return nil, fail(usage, "--strategy %s: %w", exhaustive, err)
	}
	return some, nil
}

// searchable takes out the faults that cannot be gone through; the zero Fault
// stands for none.
func (a *app) searchable(kinds []faults.Fault) (some []faults.Fault, err error) {
	for _, k := range kinds {
		if err = explore.SearchableFault(k); err != nil {
			a.say("lockcheck: skipped: %v\n", err)
			continue
		}
		some = append(some, k)
	}
	switch {
	case kinds == nil:
		return []faults.Fault{{}}, nil
	case some == nil:
		return nil, fail(usage, "--strategy %s: %w", exhaustive, err)
	}
	return some, nil
}

// exhaustLock goes through all that can happen to one lock.
func (a *app) exhaustLock(p *place, s explore.Settings, pr promise, doc *runDocument, end time.Time) (int, error) {
	kinds, err := a.searchable(s.Kinds)
	if err != nil {
		return 0, err
	}
	var bounds []*explore.Bound
	var told *harness.Judged
	var kept []string
	toldDir := ""
	code := held
	for _, kind := range kinds {
		if s.Kinds = []faults.Fault{kind}; kind.Name == "" {
			s.Kinds = nil
		}
		switch {
		case !end.IsZero():
			s.For = max(time.Until(end), 1)
		case s.Runs == 0:
			s.For = patience
		}
		b, err := explore.Exhaustive(p.ctx, &s, a.searchProgress(s.Lock, kind.Name))
		a.clearProgress()
		if err != nil {
			return 0, unconfirmed(err)
		}
		bounds = append(bounds, b)
		dirs := map[checker.Property]string{}
		for _, prop := range checker.Properties {
			j := b.Outcomes[prop].Judged
			if j == nil {
				continue
			}
			if dirs[prop], err = a.save(runName(j.Plan), j); err != nil {
				return 0, err
			}
			kept = append(kept, dirs[prop])
			if told == nil && pr.covers(prop) {
				told, toldDir = j, dirs[prop]
			}
		}
		outcome := func(prop checker.Property) checker.Outcome { return b.Outcomes[prop].Outcome }
		code = worse(code, pr.code(outcome))
		doc.addBound(&s, b, pr, dirs)
		if p.interrupted() {
			break
		}
	}
	if a.json {
		return code, nil
	}
	if told != nil && !a.quiet {
		a.heading(fmt.Sprintf("%s, the shortest schedule", s.Lock))
		if err := a.story(told.History, told.Verdicts, pr); err != nil {
			return 0, err
		}
	}
	first := bounds[0]
	most := "at most " + plural(first.Faults, "fault")
	if first.Fault == "" {
		most = "no fault"
	}
	a.printf("%s on sim, exhaustively: %s × %d, %s\n\n", s.Lock, plural(first.Clients, "client"), first.Acquires, most)
	for _, b := range bounds {
		a.bound(b, pr)
	}
	if code == unproven {
		a.paragraph(2, "Proves nothing: "+openWords(bounds, pr)+".")
	}
	for i, dir := range kept {
		if i == 8 && !a.verbose {
			a.printf("         … and %d more below %s\n", len(kept)-i, a.out)
			break
		}
		a.printf("Files    %s\n", dir)
	}
	if toldDir == "" && kept != nil {
		toldDir = kept[0]
	}
	if toldDir != "" {
		a.replayLine(toldDir)
	}
	a.printf("\n")
	return code, nil
}

// openWords say which promises were neither proven nor refuted, and why.
func openWords(bounds []*explore.Bound, pr promise) string {
	var parts []string
	for _, prop := range checker.Properties {
		for _, b := range bounds {
			proof := b.Outcomes[prop]
			if open := proof.Outcome == checker.Unknown || proof.Outcome == checker.NA && len(pr) > 0; open && pr.covers(prop) {
				parts = append(parts, fmt.Sprintf("%s is %s (%s)", prop, proof.Outcome, proof.Reason))
				break
			}
		}
	}
	if parts == nil {
		return "nothing could be judged"
	}
	return strings.Join(parts, "; ")
}

// bound prints what is known within one bound.
func (a *app) bound(b *explore.Bound, pr promise) {
	name := b.Fault
	if name == "" {
		name = "no fault"
	}
	how := "all of this bound explored"
	if !b.Complete {
		how = "bounded, not complete"
	}
	a.paragraph(2, fmt.Sprintf("%s: %s: %s, %s, in %.1f s", name, how, plural(b.States, "state"), plural(b.Schedules, "schedule"), b.Took.Seconds()))
	for _, out := range []checker.Outcome{checker.Violated, checker.Unknown, checker.Valid, checker.NA} {
		var parts []string
		last := ""
		flush := func() {
			if last != "" {
				parts[len(parts)-1] += " (" + last + ")"
			}
		}
		for _, prop := range checker.Properties {
			proof := b.Outcomes[prop]
			if proof.Outcome != out {
				continue
			}
			words := string(prop)
			switch {
			case out == checker.Violated:
				words += fmt.Sprintf(" after %s", plural(proof.Steps, "step"))
			case out == checker.NA && proof.Reason != last:
				flush()
				last = proof.Reason
			}
			if !pr.covers(prop) {
				words += ", not promised"
			}
			parts = append(parts, words)
		}
		flush()
		if parts != nil {
			a.paragraph(14, fmt.Sprintf("  %s %-9s %s", a.sign(out), out, strings.Join(parts, "; ")))
		}
	}
	a.printf("\n")
}

// searchProgress shows how far a search is, on a terminal.
func (a *app) searchProgress(lock, fault string) func(schedules, states int) {
	if !isTerminal(a.stderr) || a.quiet {
		return nil
	}
	return func(schedules, states int) {
		io.WriteString(a.stderr, fmt.Sprintf("\r%s %s: %s states, %s schedules ", lock, fault, thousands(states), thousands(schedules)))
	}
}

// unconfirmed explains that the two judges of a search disagree.
func unconfirmed(err error) error {
	if u := (*explore.Unconfirmed)(nil); errors.As(err, &u) {
		return fail(bug, "%s: %w", u.Judged.Plan.Lock, err)
	}
	return err
}

// runBound is what an exhaustive search came to, in JSON.
type runBound struct {
	Lock       string            `json:"lock"`
	Fault      string            `json:"fault"` // none
	Clients    int               `json:"clients"`
	Acquires   int               `json:"acquires"`
	Faults     int               `json:"faults"`
	States     int               `json:"states"`
	Schedules  int               `json:"schedules"`
	Complete   bool              `json:"complete"`
	Properties map[string]string `json:"properties"`
}

// addBound takes in one search.
func (d *runDocument) addBound(s *explore.Settings, b *explore.Bound, pr promise, dirs map[checker.Property]string) {
	r := runBound{
		Lock: s.Lock, Fault: b.Fault, Clients: b.Clients, Acquires: b.Acquires, Faults: b.Faults,
		States: b.States, Schedules: b.Schedules, Complete: b.Complete, Properties: map[string]string{},
	}
	if r.Fault == "" {
		r.Fault = "none"
	}
	d.Runs += b.Schedules
	for _, prop := range checker.Properties {
		out := b.Outcomes[prop].Outcome
		r.Properties[string(prop)] = out.String()
		d.worst[prop] = worstOf(d.worst[prop], out)
		d.Properties[string(prop)] = d.worst[prop].String()
		if dir := dirs[prop]; dir != "" {
			d.violation(runViolation{
				Property: string(prop), Lock: s.Lock, Seed: s.Seed, File: filepath.Join(dir, historyFile),
				Runs: 1, Promised: pr.covers(prop),
			})
		}
	}
	d.Bounds = append(d.Bounds, r)
}
