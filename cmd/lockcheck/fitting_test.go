package main

import (
	"encoding/json"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// Locks that cannot run here are named before the first run.
func TestALockThatDoesNotFitLeavesTheOthers(t *testing.T) {
	out := t.TempDir()
	r := lockcheck(t, "run", "redis-set-lua", "zk-predecessor", "--fault", "evict", "--runs", "60", "--seed", "1", "--json", "--out", out)
	r.wants(t, violated, "lockcheck: zk-predecessor is skipped: none of these faults applies: ")
	if doc := document(t, r); len(doc.Cells) != 1 || doc.Verdict != results.Violated {
		t.Errorf("%+v", doc.Head)
	}
	lockcheck(t, "run", "zk-predecessor", "mysql-get-lock", "--fault", "evict", "--out", out).wants(t, usage, "none of these faults applies: ")
}

// document returns the document that a command printed with --json.
func document(t *testing.T, r result) *results.Document {
	t.Helper()
	doc := new(results.Document)
	if err := json.Unmarshal([]byte(r.stdout), doc); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return doc
}
