package batch

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
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

// Kept is a run whose files were kept.
type Kept struct {
	Judged *harness.Judged // nil: its story is not printed
	Dir    string
	Saved  bool // its files exist and are not those of an earlier run
}

// Keep repeats the runs that have to be kept, records everything and writes their
// files. A run with another verdict than before is a bug. On error it still returns the
// runs so far, and for the others the directories where they would be. Runs whose files
// could not be written are judged anyway.
func (r *Runner) Keep(s *explore.Settings, done *explore.Result, all bool) (map[int]Kept, error) {
	runs := map[int]bool{}
	for _, run := range telling(done) {
		runs[run] = true
	}
	for i, n := s.From, done.Runs; all && n > 0; i++ {
		if s.Here(i) {
			runs[i] = true
			n--
		}
	}
	kept := map[int]Kept{}
	for run := range runs {
		kept[run] = Kept{Dir: r.Out.Run(r.RunName(r.Plan(s, run)))}
	}
	var failed error
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		j, err := r.Again(r, s, run)
		if err != nil {
			return kept, err
		}
		if j == nil { // real time does not repeat: the files are there already
			kept[run] = Kept{Dir: kept[run].Dir, Saved: true}
			continue
		}
		dir, err := r.Save(r.RunName(j.Plan), j)
		failed = cmp.Or(failed, err)
		for _, prop := range checker.Properties {
			if t := done.Outcomes[prop]; t.Count[checker.Violated] > 0 && t.First[checker.Violated] == run && j.Outcome(prop) != checker.Violated {
				if v := j.Verdict(prop); v.Porcupine == checker.Disagreed {
					return kept, exit.Errorf(exit.Bug, "the run of %s with seed %d: %s: %s (%s)", s.Lock, j.Plan.Seed, prop, v.Reason, dir)
				}
				return kept, exit.Errorf(exit.Bug, "the run of %s with seed %d violated %s, and did not when it was repeated (%s; %s)", s.Lock, j.Plan.Seed, prop, j.Outcome(prop), dir)
			}
		}
		kept[run] = Kept{j, dir, err == nil}
	}
	return kept, failed
}

// telling returns the first runs that violated a property or left it open.
func telling(r *explore.Result) (runs []int) {
	for _, t := range r.Outcomes {
		for _, out := range []checker.Outcome{checker.Violated, checker.Unknown} {
			if t.Count[out] > 0 {
				runs = append(runs, t.First[out])
			}
		}
	}
	return runs
}

// Explored is a batch of runs and the runs that were kept.
type Explored struct {
	Settings *explore.Settings
	Result   *explore.Result
	Promise  checker.Promise
	Kept     map[int]Kept                // by run
	Short    map[checker.Property]Shrunk // in sim
	About    checker.Property            // property of the story; "": no story
	Flags    []string                    // of the command that replays a run
}

// Settle keeps the necessary runs of a batch. In sim it minimises the violations of the
// properties for which shrink returns true; nil means none. On error it still returns
// the partial result.
func (r *Runner) Settle(s *explore.Settings, done *explore.Result, pr checker.Promise, all bool, shrink func(checker.Property) bool) (*Explored, error) {
	uncontested(s, done)
	e := &Explored{Settings: s, Result: done, Promise: pr, Flags: r.ReplayFlags(s.Worker)}
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
	c := results.Cell{Name: name, Lock: s.Lock, On: s.On, Promises: e.Promise, Strategy: s.Strategy, Settings: s.CellSettings, Seed: s.Seed, ReplayFlags: e.Flags}
	if s.Kind != nil {
		c.Kind = s.Kind.Name
	}
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
		x.Replay = terminal.Replay(filepath.Join(dir, rundir.ScheduleFile), e.Flags...)
	}
	Explain(x, judged, prop)
	return x
}

// Explain notes in a counterexample how a run violates a property, and Porcupine's opinion
// on it. A nil run has no story.
func Explain(x *results.Counterexample, j *harness.Judged, prop checker.Property) {
	if j == nil {
		return
	}
	v := j.Verdict(prop)
	if x.Porcupine = v.Porcupine; v.Witness != nil {
		x.Sentence = v.Witness.Sentence
	}
}

// First returns the first run that violated a property.
func (e *Explored) First(prop checker.Property) int {
	return e.Result.Outcomes[prop].First[checker.Violated]
}

// StoryProperty returns the property that the story is about: resource, if a run lost a
// write, as that shows the damage; else, of the properties that the first run with a broken
// promise violated, the first one in order. What no lock of its kind keeps comes last.
func StoryProperty(r *explore.Result, pr checker.Promise) (about checker.Property, ok bool) {
	for _, excused := range []bool{false, true} {
		for _, prop := range checker.Properties {
			t := r.Outcomes[prop]
			if r.Outcome(prop) != checker.Violated || !pr.Covers(prop) || t.Excused() != excused {
				continue
			}
			if prop == checker.Resource {
				return prop, true
			}
			if !ok || t.First[checker.Violated] < r.Outcomes[about].First[checker.Violated] {
				about, ok = prop, true
			}
		}
		if ok {
			break
		}
	}
	return about, ok
}

// Shrunk is a run that was minimised for a property, and the directory of its files.
type Shrunk struct {
	Property checker.Property
	Judged   *harness.Judged
	Dir      string
	Took     time.Duration // 0: it was minimised earlier
}

// ShrinkFor minimises a run for a property that it violates, runs the result with
// everything recorded, and writes its files below those of the run called name. After
// an interrupt it returns the shortest run so far.
func (r *Runner) ShrinkFor(j *harness.Judged, property checker.Property, name string) (s Shrunk, err error) {
	s.Property = property
	start := time.Now()
	short, err := explore.Shrink(r.Ctx, r.Simulator(), j, property, explore.ShrinkBudget)
	if err != nil {
		return s, err
	}
	s.Took = time.Since(start)
	name = filepath.Join(name, "shrunk-"+string(property))
	if s.Judged, _, err = r.Execute(short, name); err != nil {
		return s, err
	}
	if s.Dir, err = r.Save(name, s.Judged); err != nil {
		return Shrunk{}, err // the story is then that of the original run
	}
	if got := s.Judged.Outcome(property); got != checker.Violated {
		return s, exit.Errorf(exit.Bug, "the run of %s with seed %d was shrunk to one that violates %s, and did not when it was repeated (%s; %s)",
			short.Lock, short.Seed, property, got, s.Dir)
	}
	return s, nil
}

// shrinkKept minimises the first violation of each property for which some returns
// true, from the kept runs of a batch. It works in parallel, which does not affect the
// result.
func (r *Runner) shrinkKept(s *explore.Settings, done *explore.Result, kept map[int]Kept, some func(checker.Property) bool) (map[checker.Property]Shrunk, error) {
	var group sync.WaitGroup
	turn := make(chan struct{}, explore.Workers(s.Jobs))
	runs := make([]Shrunk, len(checker.Properties))
	errs := make([]error, len(checker.Properties))
	for i, prop := range checker.Properties {
		if done.Outcome(prop) != checker.Violated || !some(prop) {
			continue
		}
		j := kept[done.Outcomes[prop].First[checker.Violated]].Judged
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if r.Interrupted() {
				return
			}
			errs[i] = exit.Guard(func() (err error) {
				runs[i], err = r.ShrinkFor(j, prop, r.RunName(j.Plan))
				return err
			})
		})
	}
	group.Wait()
	short := map[checker.Property]Shrunk{}
	for i, s := range runs {
		if s.Judged != nil {
			short[checker.Properties[i]] = s
		}
	}
	return short, errors.Join(errs...)
}
