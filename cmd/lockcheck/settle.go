package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// explored is a batch of runs and the runs that were kept.
type explored struct {
	place    *place
	settings *explore.Settings
	result   *explore.Result
	promise  checker.Promise
	kept     map[int]keptRun                // by run
	short    map[checker.Property]shrunkRun // in sim
	about    checker.Property               // property of the story; "": no story
}

// settle keeps the necessary runs of a batch. In sim it minimises the violations of the
// properties for which shrink returns true; nil means none. On error it still returns
// the partial result.
func (a *app) settle(p *place, s *explore.Settings, r *explore.Result, pr checker.Promise, all bool, shrink func(checker.Property) bool) (*explored, error) {
	uncontested(s, r)
	e := &explored{place: p, settings: s, result: r, promise: pr}
	var err error
	if e.kept, err = a.keep(p, s, r, all); err == nil && shrink != nil && p.name == "sim" {
		e.short, err = a.shrinkKept(p, s, r, e.kept, shrink)
	}
	e.about, _ = told(r, pr)
	return e, err
}

// uncontested changes the verdict on properties that only two clients can break from
// valid to n/a, if there was only one client.
func uncontested(s *explore.Settings, r *explore.Result) {
	if s.Clients.Most != 1 {
		return
	}
	for _, prop := range checker.Contested {
		t := r.Outcomes[prop]
		if n := t.Count[checker.Valid]; n > 0 {
			t.Count[checker.Valid], t.Count[checker.NA] = 0, n+t.Count[checker.NA]
			t.First[checker.NA], t.Reasons[checker.NA] = t.First[checker.Valid], "there is one client: nobody could break it"
		}
	}
}

// cell returns the cell for the result, with a name. trouble is the reason why the
// environment did not do all runs, or nil.
func (e *explored) cell(name string, trouble error) results.Cell {
	s := e.settings
	c := results.Cell{Name: name, Lock: s.Lock, On: s.On, Promises: e.promise, Strategy: s.Strategy, Settings: s.CellSettings, Seed: s.Seed}
	for _, k := range s.Kinds {
		c.Faults = append(c.Faults, cmp.Or(k.Name, catalogue.NoFault))
	}
	if len(s.Workloads) == 1 {
		c.Workload = s.Workloads[0].Name
	}
	if trouble != nil {
		c.Trouble = trouble.Error()
	}
	c.Take(e.result)
	for i := range c.Properties {
		if p := &c.Properties[i]; p.Is(checker.Violated) {
			p.Counterexample = e.counterexample(p.Property)
		}
	}
	return c
}

// counterexample returns the kept run that was the first to violate a property.
func (e *explored) counterexample(prop checker.Property) *results.Counterexample {
	run := e.first(prop)
	kept := e.kept[run]
	x := &results.Counterexample{Seed: e.settings.Seed + uint64(run), File: filepath.Join(kept.dir, rundir.HistoryFile)}
	judged, dir := kept.judged, kept.dir
	if short, ok := e.short[prop]; ok {
		judged, dir = short.judged, short.dir
		x.Shrunk = filepath.Join(dir, rundir.HistoryFile)
	}
	if kept.saved {
		x.Replay = terminal.Replay(filepath.Join(dir, rundir.ScheduleFile))
	}
	x.Sentence, x.Porcupine = sentenceOf(judged, prop), opinionOf(judged, prop)
	return x
}

// sentenceOf describes the violation of a property by a run. It returns "" for a nil
// run, which has no story.
func sentenceOf(j *harness.Judged, prop checker.Property) string {
	if j == nil {
		return ""
	}
	if w := j.Verdict(prop).Witness; w != nil {
		return w.Sentence
	}
	return ""
}

// opinionOf returns Porcupine's opinion on a verdict of a run, or "" if it was not
// asked.
func opinionOf(j *harness.Judged, prop checker.Property) checker.Opinion {
	if j == nil {
		return ""
	}
	return j.Verdict(prop).Porcupine
}

// first returns the first run that violated a property.
func (e *explored) first(prop checker.Property) int {
	return e.result.Outcomes[prop].First[checker.Violated]
}

// tell prints the story of the first run that broke the promise, or of its minimised
// run if there is one.
func (a *app) tell(e *explored) error {
	if e.about == "" {
		return nil
	}
	run := e.first(e.about)
	title := fmt.Sprintf("%s, seed %d", e.settings.Lock, e.settings.Seed+uint64(run))
	if short, ok := e.short[e.about]; ok {
		err := a.tellShrunk(short, title)
		a.Printf("\n")
		return err
	}
	if a.Quiet || e.kept[run].judged == nil {
		return nil
	}
	a.Heading(title)
	return a.Story(e.kept[run].judged.History, e.kept[run].judged.Verdicts, e.promise)
}

// told returns the property that the story is about: of the properties that the first
// run with a broken promise violated, the first one in order.
func told(r *explore.Result, pr checker.Promise) (about checker.Property, ok bool) {
	for _, prop := range checker.Properties {
		if r.Outcome(prop) != checker.Violated || !pr.Covers(prop) {
			continue
		}
		if run := r.Outcomes[prop].First[checker.Violated]; !ok || run < r.Outcomes[about].First[checker.Violated] {
			about, ok = prop, true
		}
	}
	return about, ok
}
