package cases

import (
	"math"
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

// Where no fault strikes and only the numbers of the ensemble differ, no fault is left out.
func TestHealthyWordsOfNumbers(t *testing.T) {
	t.Parallel()
	r := &harness.CaseResult{Schedules: []harness.ScheduleResult{{Healthy: &harness.Judged{}}}}
	r.Case.Setup.Server.Sequence = math.MaxInt32
	if got, want := healthyWords(r), "On an ensemble whose numbers begin with 0 nothing is violated either."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The sentence about a remedy names what the flawed run violated and the remedy kept, and
// how many servers the remedy asks, if they are not as many.
func TestRemedyWords(t *testing.T) {
	t.Parallel()
	judged := func(outcome checker.Outcome, list ...checker.Property) *harness.Judged {
		j := &harness.Judged{}
		for _, p := range list {
			j.Verdicts = append(j.Verdicts, checker.Verdict{Property: p, Outcome: outcome})
		}
		return j
	}
	flawed := judged(checker.Violated, checker.Exclusion, checker.Resource, checker.Answers)
	for _, tt := range []struct {
		lock, remedy string
		remedied     *harness.Judged
		want         string
	}{
		{"redis-set-del", "redis-set-lua", judged(checker.Valid, checker.Exclusion, checker.Resource), "redis-set-lua, under the same schedule, keeps exclusion, resource."},
		{"redlock-continue", "redis-watchdog", judged(checker.Valid, checker.Exclusion), "redis-watchdog, on 1 server, under the same schedule, keeps exclusion."},
		{"redlock-seed", "redlock", judged(checker.Valid, checker.Exclusion, checker.Answers), "redlock, under the same schedule, keeps exclusion, answers."},
	} {
		r := &harness.CaseResult{Remedy: "valid", Schedules: []harness.ScheduleResult{{Flawed: flawed, Remedied: tt.remedied}}}
		r.Case.Setup.Lock, r.Case.Remedy.Setup.Lock = tt.lock, tt.remedy
		r.Case.Remedy.Keeps = []checker.Property{checker.Exclusion}
		if got := remedyWords(r); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
