package batch

import (
	"cmp"
	"path/filepath"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Explored is a batch of runs and the runs that were kept.
type Explored struct {
	Settings *explore.Settings
	Result   *explore.Result
	Promise  checker.Promise
	Kept     map[int]Kept                // by run
	Short    map[checker.Property]Shrunk // in sim
	About    checker.Property            // property of the story; "": no story
}

// Settle keeps the necessary runs of a batch. In sim it minimises the violations of the
// properties for which shrink returns true; nil means none. On error it still returns
// the partial result.
func (r *Runner) Settle(s *explore.Settings, done *explore.Result, pr checker.Promise, all bool, shrink func(checker.Property) bool) (*Explored, error) {
	uncontested(s, done)
	e := &Explored{Settings: s, Result: done, Promise: pr}
	var err error
	if e.Kept, err = r.Keep(s, done, all); err == nil && shrink != nil && r.Simulator() != nil {
		e.Short, err = r.shrinkKept(s, done, e.Kept, shrink)
	}
	e.About, _ = StoryProperty(done, pr)
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

// Cell returns the cell for the result, with a name. trouble is the reason why the
// environment did not do all runs, or nil.
func (e *Explored) Cell(name string, trouble error) results.Cell {
	s := e.Settings
	c := results.Cell{Name: name, Lock: s.Lock, On: s.On, Promises: e.Promise, Strategy: s.Strategy, Settings: s.CellSettings, Seed: s.Seed}
	for _, k := range s.Kinds {
		c.Faults = append(c.Faults, cmp.Or(k.Name, catalogue.NoFault))
	}
	if len(s.Workloads) == 1 {
		c.Workload = s.Workloads[0].Name
	}
	if trouble != nil {
		c.Trouble = trouble.Error()
	}
	c.Take(e.Result)
	for i := range c.Properties {
		if p := &c.Properties[i]; p.Is(checker.Violated) {
			p.Counterexample = e.counterexample(p.Property)
		}
	}
	return c
}

// counterexample returns the kept run that was the first to violate a property.
func (e *Explored) counterexample(prop checker.Property) *results.Counterexample {
	run := e.First(prop)
	kept := e.Kept[run]
	x := &results.Counterexample{Seed: e.Settings.Seed + uint64(run), File: filepath.Join(kept.Dir, rundir.HistoryFile)}
	judged, dir := kept.Judged, kept.Dir
	if short, ok := e.Short[prop]; ok {
		judged, dir = short.Judged, short.Dir
		x.Shrunk = filepath.Join(dir, rundir.HistoryFile)
	}
	if kept.Saved {
		x.Replay = terminal.Replay(filepath.Join(dir, rundir.ScheduleFile))
	}
	x.Sentence, x.Porcupine = Sentence(judged, prop), Opinion(judged, prop)
	return x
}

// Sentence describes the violation of a property by a run. It returns "" for a nil
// run, which has no story.
func Sentence(j *harness.Judged, prop checker.Property) string {
	if j == nil {
		return ""
	}
	if w := j.Verdict(prop).Witness; w != nil {
		return w.Sentence
	}
	return ""
}

// Opinion returns Porcupine's opinion on a verdict of a run, or "" if it was not
// asked.
func Opinion(j *harness.Judged, prop checker.Property) checker.Opinion {
	if j == nil {
		return ""
	}
	return j.Verdict(prop).Porcupine
}

// First returns the first run that violated a property.
func (e *Explored) First(prop checker.Property) int {
	return e.Result.Outcomes[prop].First[checker.Violated]
}

// StoryProperty returns the property that the story is about: of the properties that the first
// run with a broken promise violated, the first one in order.
func StoryProperty(r *explore.Result, pr checker.Promise) (about checker.Property, ok bool) {
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
