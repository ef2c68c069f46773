package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
)

// If a run cannot be repeated for its files, its findings are still reported.
func TestARunThatCannotBeKeptIsToldAllTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	wheels := errors.New("the wheels came off")
	r := in(t, t.Context(), func(p *changed) {
		p.again = func(*explore.Settings, int) (*harness.Judged, error) { return nil, wheels }
	}, strings.Fields("run redis-set-del --fault pause --seed 1 --runs 60 --json")...)
	if doc := document(t, r); r.code != bug || doc.ExitCode != bug || doc.Verdict != results.Violated || len(doc.Violations) == 0 {
		t.Errorf("%+v", doc.Head)
	}
}

// A worker that breaks the protocol ends its own entry and no other.
func TestAWorkerOfOneEntryThatDoesNotKeepToTheProtocol(t *testing.T) {
	t.Chdir(t.TempDir())
	wrong := &env.ProtocolError{Line: `{"id":0}`, Want: "the id of a request without an answer"}
	const text = `
locks:
  - {name: odd, lock: redis-set-lua, on: docker, faults: [none, pause], runs: 2}
  - {name: del, lock: redis-set-del, on: docker, faults: none, workloads: finally, promises: ownership, runs: 2}
`
	e := &engine{}
	strange := false
	e.seen = func(p *harness.Plan) { strange = p.Lock == "redis-set-lua" }
	e.breaks = func(int) error {
		if strange {
			return exit.Errorf(usage, "%w", wrong)
		}
		return nil
	}
	r, doc := suiteRun(t, e, text)
	r.wants(t, usage, wrong.Line, wrong.Want, "violated ownership")
	if n := strings.Count(r.stderr, wrong.Line); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, r.stderr)
	}
	if e.calls != 3 {
		t.Errorf("%d runs, of the other entry 2", e.calls)
	}
	if doc == nil || len(doc.Cells) != 3 {
		t.Fatalf("%+v", doc)
	}
	for _, c := range doc.Cells[:2] {
		if c.Verdict != results.Unavailable || !strings.Contains(c.Reason, wrong.Line) {
			t.Errorf("%s: %s, %s", c.Name, c.Verdict, c.Reason)
		}
	}
}
