package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// Each command reports Porcupine's verdicts on sampled runs and on the reported
// violations, in text and in JSON.
func TestCommandsSayWhatPorcupineFound(t *testing.T) {
	out := t.TempDir()
	run := []string{"run", "redis-set-lua", "--fault", "pause", "--seed", "1", "--runs", "20", "--out", out}
	lockcheck(t, run...).wants(t, violated, "Judges   Porcupine judged ", " agreed, 0 undecided, 0 disagreed")
	lockcheck(t, append(run, "--json")...).wants(t, violated, `"porcupine": "agreed"`, `"porcupine": {`, `"disagreed": 0`)
	schedule := filepath.Join(out, "redis-set-lua-pause-4", scheduleFile)
	for _, args := range [][]string{{"replay", schedule}, {"shrink", schedule}, {"check", filepath.Join(out, "redis-set-lua-pause-4", historyFile)}} {
		code := violated
		if args[0] == "shrink" {
			code = held
		}
		args = append(args, "--out", out)
		if args[0] == "check" {
			args = args[:2]
		}
		lockcheck(t, args...).wants(t, code, "Porcupine judged 3 verdicts, too: 3 agreed, 0 undecided, 0")
		lockcheck(t, append(args, "--json")...).wants(t, code, `"porcupine": "agreed"`)
	}
	lockcheck(t, "run", "redis-set-lua", "--fault", "pause", "--strategy", "exhaustive", "--out", out).
		wants(t, violated, "Porcupine judged 2 verdicts, too: 2 agreed")
	matrix := []string{"matrix", "redis-set-lua", "--fault", "pause", "--runs", "20", "--out", out}
	lockcheck(t, matrix...).wants(t, held, "Judges   Porcupine judged ")
	lockcheck(t, append(matrix, "--json")...).wants(t, held, `"porcupine": {`)
}

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
