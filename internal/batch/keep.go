package batch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
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
