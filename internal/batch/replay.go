package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// Tries is how often at most a plan is carried out where time is real and it did not show
// what it should.
const Tries = 4

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
