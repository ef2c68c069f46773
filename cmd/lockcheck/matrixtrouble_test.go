package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
)

// restarts returns an engine that fails at the first restart.
func restarts(err error) *engine {
	restart := false
	e := new(engine)
	e.seen = func(plan *harness.Plan) { restart = len(plan.Faults) > 0 && plan.Faults[0].Fault == "restart" }
	e.breaks = func(int) error {
		if restart {
			return err
		}
		return nil
	}
	return e
}

// matrixOf returns the document that a matrix printed.
func matrixOf(t *testing.T, r result) *results.MatrixDocument {
	t.Helper()
	doc := new(results.MatrixDocument)
	if err := json.Unmarshal([]byte(r.stdout), doc); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	if doc.ExitCode != r.code {
		t.Errorf("exit code %d, and the document says %d", r.code, doc.ExitCode)
	}
	return doc
}

const realMatrix = "matrix redis-set-lua --on docker --for 20ms --json --fault "

// A matrix that the environment prevented is not a success, in JSON either.
func TestAMatrixWhosePlaceBreaksDownSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		faults  string
		err     error
		code    int
		verdict results.Verdict
		left    int
	}{
		{"kill,restart,pause", exit.Errorf(unavailable, "the engine is gone"), unavailable, results.Unavailable, 1},
		{"restart", exit.Errorf(unavailable, "the engine is gone"), unavailable, results.Unavailable, 1},
		{"kill,restart,pause", errors.New("the engine is gone"), bug, results.Inconclusive, 1},
	} {
		for _, shard := range []string{"", " --shard 1/1"} {
			args := strings.Fields(realMatrix + tt.faults + shard)
			doc := matrixOf(t, restarts(tt.err).runs(t, args...))
			if doc.ExitCode != tt.code || doc.Verdict != tt.verdict || doc.Left != tt.left || !strings.Contains(doc.Reason, "the engine is gone") {
				t.Errorf("%s: %+v, %d not begun", args, doc.Head, doc.Left)
			}
		}
		merged := matrixOf(t, lockcheck(t, "merge", "lockcheck-out", "--json"))
		want := tt.verdict.ExitCode()
		if merged.ExitCode != want || merged.Verdict != tt.verdict || merged.Left != tt.left {
			t.Errorf("%s: merged: %+v, %d not begun", tt.faults, merged.Head, merged.Left)
		}
	}
}
