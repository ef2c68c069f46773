package batch

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
)

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
	jobs := s.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var group sync.WaitGroup
	turn := make(chan struct{}, jobs)
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
