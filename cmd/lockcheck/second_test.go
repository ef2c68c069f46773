package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// A disagreement is reported on standard error, and is not a success.
func TestADisagreementOfTheJudgesIsSaid(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	verdicts := []checker.Verdict{
		{Property: checker.Exclusion, Outcome: checker.Valid, Porcupine: checker.Agreed},
		{Property: checker.Resource, Outcome: checker.Unknown, Porcupine: checker.Disagreed, Reason: "the judges disagree: so and so"},
	}
	if code := a.Disputed("history.jsonl", verdicts, held); code != unproven {
		t.Errorf("exit code %d", code)
	}
	if code := a.Disputed("history.jsonl", verdicts, violated); code != violated {
		t.Errorf("exit code %d where something is violated", code)
	}
	a.Disputes(&results.Document{Cells: []results.Cell{{Name: "my-lock on sim: pause", On: "sim", Porcupine: &checker.Second{Disagreed: 2}}}})
	for _, words := range []string{
		"lockcheck: history.jsonl: resource: the judges disagree: so and so. This is a bug in lockcheck",
		"lockcheck: my-lock on sim: pause: the judges disagree on 2 verdicts, which is a bug in lockcheck",
	} {
		if !strings.Contains(stderr.String(), words) {
			t.Errorf("%q is not said:\n%s", words, stderr.String())
		}
	}
}
