package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// inRealTime makes the batches of a place where time is real: one run after
// another, and as none repeats what was run is what is kept. That is much, so
// only the runs are that somebody asks for again: the first of each outcome.
func (a *app) inRealTime(p *place) {
	p.each = func(plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
		return a.each(p, plans, names)
	}
	first, all := map[int]*harness.Judged{}, explore.NewResult()
	p.batch = func(s *explore.Settings, progress func(int)) (*explore.Result, error) {
		if s.From == 0 {
			first, all = map[int]*harness.Judged{}, explore.NewResult()
		}
		start := time.Now()
		r := explore.NewResult()
		var err error
		i := s.From
		for ; i < s.Runs && err == nil && !p.interrupted() && (s.For == 0 || time.Since(start) < s.For); i++ {
			if !s.Here(i) {
				continue
			}
			var j *harness.Judged
			if j, err = a.once(p, s, i, r); j != nil {
				r.Count(i, j.Plan, j.Verdicts, j.Reached, &j.Hazards)
				all.Count(i, j.Plan, j.Verdicts, j.Reached, &j.Hazards)
				if slices.Contains(telling(all), i) {
					first[i] = j
				}
			}
			if err == nil && progress != nil {
				progress(i + 1)
			}
			if s.Enough != nil && s.Enough(r) {
				break
			}
		}
		r.Took, r.Whole = time.Since(start), i >= s.Runs && err == nil
		if p.interrupted() {
			err = nil
		}
		return r, err
	}
	p.again = func(_ *explore.Settings, run int) (*harness.Judged, error) { return first[run], nil }
}

// once does run i, as tried does a plan.
func (a *app) once(p *place, s *explore.Settings, i int, r *explore.Result) (*harness.Judged, error) {
	plan := p.plan(s, i)
	j, retried, err := a.tried(p, plan, p.runName(plan), fmt.Sprintf("the run of %s with seed %d", s.Lock, plan.Seed))
	if retried {
		r.Retried++
	}
	return j, err
}

// tried carries out a plan. Where it was the place that failed it is tried again,
// once, as that says nothing of the lock; a broken promise is not, and comes with the
// error, and so does a run that is whole. Of one that did not come to its end it
// returns what convicts, or nil.
func (a *app) tried(p *place, plan *harness.Plan, name, words string) (j *harness.Judged, retried bool, err error) {
	first := *plan
	j, _, err = p.execute(&first, name)
	if retried = p.failed(j, err); retried {
		j, err = a.again(p, plan, name, words, err)
	}
	switch {
	case err == nil || unclosed(err):
	case convicted(j):
		a.say("lockcheck: %s ended early, after a violation\n", words)
	default:
		j = nil // what there is of it could be the place's doing
	}
	return j, retried, err
}

// again carries out a plan for the second time, as the place failed.
func (a *app) again(p *place, plan *harness.Plan, name, words string, failed error) (*harness.Judged, error) {
	a.say("lockcheck: %s is tried again, as the place failed: %v\n", words, failed)
	second := *plan
	j, _, err := p.execute(&second, name)
	return j, err
}

// each carries out several plans of a case side by side, and one that the place
// failed again, once and alone, also after a violation: a case expects one, and has
// to see the whole run.
func (a *app) each(p *place, plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
	judged, errs := make([]*harness.Judged, len(plans)), make([]error, len(plans))
	var group sync.WaitGroup
	for i, plan := range plans {
		group.Go(func() {
			errs[i] = guard(func() (err error) {
				first := *plan
				judged[i], _, err = p.execute(&first, names[i])
				return err
			})
		})
	}
	group.Wait()
	for i, plan := range plans {
		if p.failed(nil, errs[i]) {
			judged[i], errs[i] = a.again(p, plan, names[i], names[i], errs[i])
		}
	}
	return judged, errors.Join(errs...)
}

// failed tells whether a run came to nothing because of the place.
func (p *place) failed(j *harness.Judged, err error) bool {
	return troubled(err) && !unclosed(err) && !convicted(j) && !p.interrupted()
}

// convicted tells whether a run that ended early has broken its promise all the
// same: what it has shown is not the place's doing (see harness.JudgeEarly).
func convicted(j *harness.Judged) bool {
	return j != nil && slices.ContainsFunc(j.Violated(), func(p checker.Property) bool {
		return len(j.Plan.Promises) == 0 || slices.Contains(j.Plan.Promises, string(p))
	})
}

// unclosed tells whether the place failed only when the run was over, which is whole.
func unclosed(err error) bool {
	var closed *harness.CloseError
	return errors.As(err, &closed)
}

// troubled tells whether err is of the place, and not of the lock or of us.
func troubled(err error) bool {
	var e *exitError
	return errors.As(err, &e) && e.code == noPlace
}
