package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/harness"
)

// keptRun is a run whose files were kept.
type keptRun struct {
	judged *harness.Judged
	dir    string
}

// keep carries out again the runs that have to be kept, this time with
// everything recorded, and writes their files. A run that does not come out
// as before is a bug.
func (a *app) keep(p *place, s *explore.Settings, r *explore.Result, all bool) (map[int]keptRun, error) {
	runs := map[int]bool{}
	for _, t := range r.Outcomes {
		for _, out := range []checker.Outcome{checker.Violated, checker.Unknown} {
			if t.Count[out] > 0 {
				runs[t.First[out]] = true
			}
		}
	}
	for i := 0; all && i < r.Runs; i++ {
		runs[i] = true
	}
	kept := map[int]keptRun{}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		j, err := p.again(s, run)
		if err != nil {
			return nil, err
		}
		dir, err := p.save(runName(j.Plan), j)
		if err != nil {
			return nil, err
		}
		for _, prop := range checker.Properties {
			if t := r.Outcomes[prop]; t.Count[checker.Violated] > 0 && t.First[checker.Violated] == run && j.Outcome(prop) != checker.Violated {
				return nil, fail(bug, "the run of %s with seed %d violated %s, and did not when it was repeated (%s; %s)", s.Lock, j.Plan.Seed, prop, j.Outcome(prop), dir)
			}
		}
		kept[run] = keptRun{j, dir}
	}
	return kept, nil
}

// runName is the directory of a run: lock, fault and seed; of a search
// its bound, and what it is about; or the case.
func runName(p *harness.Plan) string {
	if p.Case != "" {
		return p.Case
	}
	fault := "none"
	if len(p.Faults) > 0 {
		fault = p.Faults[0].Fault
	}
	if p.Order != nil {
		return fmt.Sprintf("%s-%s-%s-%dx%d-%s", p.Lock, fault, exhaustive, len(p.Clients), p.Acquires, strings.Join(p.Promises, "-"))
	}
	return fmt.Sprintf("%s-%s-%d", p.Lock, fault, p.Seed)
}
