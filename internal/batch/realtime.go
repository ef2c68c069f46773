package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// RealTime runs batches where time is real: one run after another. Such runs do not
// repeat, so it keeps the runs themselves. To save memory it keeps only those that are
// asked for later: the first of each outcome. It is a part of an Environment.
type RealTime struct {
	first map[int]*harness.Judged
	all   *explore.Result // of all batches from run 0
}

// Simulator returns nil.
func (t *RealTime) Simulator() env.Simulator { return nil }

// Batch carries out a batch.
func (t *RealTime) Batch(r *Runner, s *explore.Settings, progress func(int)) (*explore.Result, error) {
	if s.From == 0 || t.all == nil {
		t.first, t.all = map[int]*harness.Judged{}, explore.NewResult()
		t.all.Kind = s.Kind
	}
	start := time.Now()
	done := explore.NewResult()
	done.Kind = s.Kind
	done.Not, t.all.Not = s.Not, s.Not
	var err error
	i := s.From
	for ; i < s.Runs && err == nil && !r.Interrupted() && (s.For == 0 || time.Since(start) < s.For); i++ {
		if !s.Here(i) {
			continue
		}
		var j *harness.Judged
		if j, err = r.once(s, i, done); j != nil {
			for _, r := range []*explore.Result{done, t.all} {
				verdicts := r.Explain(i, slices.Clone(j.Verdicts), func(v checker.Verdict) checker.Mechanism { return checker.MechanismOf(j.History, v) })
				r.Count(i, j.Plan, verdicts, j.Reached, &j.Hazards)
			}
			if slices.Contains(telling(t.all), i) {
				t.first[i] = j
			}
		}
		if err == nil && progress != nil {
			progress(i + 1)
		}
		if s.Enough != nil && s.Enough(done) {
			break
		}
	}
	done.Took, done.Whole = time.Since(start), i >= s.Runs && err == nil
	if r.Interrupted() {
		err = nil
	}
	return done, err
}

// Again returns a run that was kept, or nil.
func (t *RealTime) Again(_ *Runner, _ *explore.Settings, run int) (*harness.Judged, error) {
	return t.first[run], nil
}

// once carries out run i as Try carries out a plan.
func (r *Runner) once(s *explore.Settings, i int, done *explore.Result) (*harness.Judged, error) {
	plan := r.Plan(s, i)
	j, retried, err := r.Try(plan, r.RunName(plan), fmt.Sprintf("the run of %s with seed %d", s.Lock, plan.Seed))
	if retried {
		done.Retried++
	}
	return j, err
}

// Try carries out a plan. If the environment failed, it tries once more, because such
// a failure says nothing about the lock. It does not retry a run that broke its promise
// or is complete, and returns that run with the error. Of an incomplete run without a
// violation it returns nil.
func (r *Runner) Try(plan *harness.Plan, name, words string) (j *harness.Judged, retried bool, err error) {
	first := *plan
	j, _, err = r.Execute(&first, name)
	if retried = r.failed(j, err); retried {
		j, err = r.again(plan, name, words, err)
	}
	switch {
	case err == nil || Unclosed(err):
	case Convicted(j):
		r.Say("lockcheck: %s ended early, after a violation\n", words)
	default:
		j = nil // the environment could be the reason for what it shows
	}
	return j, retried, err
}

// again carries out a plan for the second time, after a failure of the environment.
func (r *Runner) again(plan *harness.Plan, name, words string, failed error) (*harness.Judged, error) {
	r.Say("lockcheck: %s is tried again, as the environment failed: %v\n", words, failed)
	second := *plan
	j, _, err := r.Execute(&second, name)
	return j, err
}

// Each carries out several plans of a case in parallel. If the environment fails a
// plan, it retries the plan once, alone and even after a violation: a case expects a
// violation and needs the complete run.
func (t *RealTime) Each(r *Runner, plans []*harness.Plan, names []string) ([]*harness.Judged, error) {
	judged, errs := make([]*harness.Judged, len(plans)), make([]error, len(plans))
	var group sync.WaitGroup
	for i, plan := range plans {
		group.Go(func() {
			errs[i] = exit.Guard(func() (err error) {
				first := *plan
				judged[i], _, err = r.Execute(&first, names[i])
				return err
			})
		})
	}
	group.Wait()
	for i, plan := range plans {
		if r.failed(nil, errs[i]) {
			judged[i], errs[i] = r.again(plan, names[i], names[i], errs[i])
		}
	}
	return judged, errors.Join(errs...)
}

// failed reports whether the environment failed before a run was complete or had broken
// its promise. It returns false after an interrupt.
func (r *Runner) failed(j *harness.Judged, err error) bool {
	return exit.Code(err) == exit.Unavailable && !Unclosed(err) && !Convicted(j) && !r.Interrupted()
}

// Convicted reports whether an incomplete run has broken its promise anyway, which the
// environment cannot cause (see harness.JudgeEarly).
func Convicted(j *harness.Judged) bool {
	return j != nil && slices.ContainsFunc(j.Violated(), func(p checker.Property) bool {
		return len(j.Plan.Promises) == 0 || slices.Contains(j.Plan.Promises, string(p))
	})
}

// Unclosed reports whether the environment failed only after the end of a run, so that
// the run is complete.
func Unclosed(err error) bool {
	_, closed := errors.AsType[*harness.CloseError](err)
	return closed
}

// Misspoken reports whether err is the error of a worker that breaks the protocol. The
// runs of that worker prove nothing; those of other workers are not affected.
func Misspoken(err error) bool {
	_, wrong := errors.AsType[*env.ProtocolError](err)
	return wrong
}

// Tries is how often at most a plan is carried out where time is real and it did not show
// what it should.
const Tries = 5

// CarryOut carries out a schedule again, and keeps the files. With an error, j is nil
// unless the run is complete or has shown a violation.
func (r *Runner) CarryOut(plan *harness.Plan, name string) (j *harness.Judged, fit harness.Replay, dir string, err error) {
	j, fit, err = r.Execute(plan, name)
	if err != nil && !Unclosed(err) && !Convicted(j) {
		return nil, fit, "", err
	}
	dir, unsaved := r.Save(name, j)
	return j, fit, dir, cmp.Or(err, unsaved)
}

// Idle returns the reason why a run under its schedule proves nothing, or "".
func Idle(j *harness.Judged) string {
	if j.Reached[checker.Grants] == 0 {
		return "no client ever got the lock"
	}
	var kinds []string
	for _, in := range j.Plan.Faults {
		if j.Reached[checker.TouchedBy(in.Fault)] == 0 && !slices.Contains(kinds, in.Fault) {
			kinds = append(kinds, in.Fault)
		}
	}
	if kinds == nil {
		return ""
	}
	return strings.Join(kinds, ", ") + " had no effect"
}
