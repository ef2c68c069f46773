package cases

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// A case that violates nothing, as a measure, does not say that its fault made a
// difference.
func TestHealthyWords(t *testing.T) {
	t.Parallel()
	well := &harness.Judged{}
	broken := &harness.Judged{Verdicts: []checker.Verdict{{Property: checker.Exclusion, Outcome: checker.Violated}}}
	for _, tt := range []struct {
		flawed, healthy *harness.Judged
		want            string
	}{
		{broken, nil, "It takes no fault."},
		{broken, well, "Without the fault nothing is violated."},
		{well, well, "Without the fault nothing is violated either."},
		{broken, broken, "Without the fault only exclusion is violated."},
	} {
		r := &harness.CaseResult{Schedules: []harness.ScheduleResult{{Flawed: tt.flawed, Healthy: tt.healthy}}}
		if got := healthyWords(r); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
