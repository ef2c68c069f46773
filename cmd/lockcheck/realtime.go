package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// inRealTime sets how p runs batches where time is real: one run after another. Such
// runs do not repeat, so p keeps the runs themselves. To save memory it keeps only
// those that are asked for later: the first of each outcome.
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

// once carries out run i as tried carries out a plan.
func (a *app) once(p *place, s *explore.Settings, i int, r *explore.Result) (*harness.Judged, error) {
	plan := p.plan(s, i)
	j, retried, err := a.tried(p, plan, p.runName(plan), fmt.Sprintf("the run of %s with seed %d", s.Lock, plan.Seed))
	if retried {
		r.Retried++
	}
	return j, err
}

// tried carries out a plan. If the environment failed, it tries once more, because such
// a failure says nothing about the lock. It does not retry a run that broke its promise
// or is complete, and returns that run with the error. Of an incomplete run without a
// violation it returns nil.
func (a *app) tried(p *place, plan *harness.Plan, name, words string) (j *harness.Judged, retried bool, err error) {
	first := *plan
	j, _, err = p.execute(&first, name)
	if retried = p.failed(j, err); retried {
		j, err = a.again(p, plan, name, words, err)
	}
	switch {
	case err == nil || unclosed(err):
	case convicted(j):
		a.Say("lockcheck: %s ended early, after a violation\n", words)
	default:
		j = nil // the environment could be the reason for what it shows
	}
	return j, retried, err
}

// again carries out a plan for the second time, after a failure of the environment.
func (a *app) again(p *place, plan *harness.Plan, name, words string, failed error) (*harness.Judged, error) {
	a.Say("lockcheck: %s is tried again, as the place failed: %v\n", words, failed)
	second := *plan
	j, _, err := p.execute(&second, name)
	return j, err
}

// each carries out several plans of a case in parallel. If the environment fails a
// plan, it retries the plan once, alone and even after a violation: a case expects a
// violation and needs the complete run.
func (a *app) each(p *place, plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
	judged, errs := make([]*harness.Judged, len(plans)), make([]error, len(plans))
	var group sync.WaitGroup
	for i, plan := range plans {
		group.Go(func() {
			errs[i] = exit.Guard(func() (err error) {
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

// failed reports whether the environment failed before a run was complete or had broken
// its promise. It returns false after an interrupt.
func (p *place) failed(j *harness.Judged, err error) bool {
	return troubled(err) && !unclosed(err) && !convicted(j) && !p.interrupted()
}

// convicted reports whether an incomplete run has broken its promise anyway, which the
// environment cannot cause (see harness.JudgeEarly).
func convicted(j *harness.Judged) bool {
	return j != nil && slices.ContainsFunc(j.Violated(), func(p checker.Property) bool {
		return len(j.Plan.Promises) == 0 || slices.Contains(j.Plan.Promises, string(p))
	})
}

// unclosed reports whether the environment failed only after the end of a run, so that
// the run is complete.
func unclosed(err error) bool {
	var closed *harness.CloseError
	return errors.As(err, &closed)
}

// troubled reports whether err comes from the environment, not from the lock or from
// lockcheck.
func troubled(err error) bool {
	var e *exit.Error
	return errors.As(err, &e) && e.Code == exit.Unavailable
}
