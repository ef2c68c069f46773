package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/locks"
)

// storeWorker is the argument that turns the test binary into a user's worker: a lock of
// the catalogue, whose id follows, behind the protocol.
const storeWorker = "store-worker"

func storeFactory(id string) worker.Factory {
	return func(s worker.Setup) (locks.Locker, func() error, error) {
		s.Init.Options = worker.LockOptions(id, catalogue.Options{})
		return worker.Catalogue(s)
	}
}

// A worker gets the servers that it asks for, and the faults of these servers. Its
// schedule has the store, so that a replay has the same servers. The only fault strikes
// a client during one of its first six acquires of eight, and is over before that client
// goes on. So the client wants the lock after it, and the run proves that clients get it.
// A server may restart too late for that.
func TestWorkersForEveryStore(t *testing.T) {
	dockertest.Require(t)
	lockcheck := binary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ store, lock, fault, lease, promise string }{
		{"redlock", "redlock", "pause", "5s", "liveness"}, // it gives a node T/40 for an answer
		{"sentinel", "redis-set-lua", "pause", "2s", "liveness"},
		{"zookeeper", "zk-recipe", "session-expiry", "2s", "liveness"},
		{"mysql", "mysql-get-lock", "session-expiry", "2s", "liveness"},
	} {
		t.Run(tt.store, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			judged := fmt.Sprintf("%-16s valid", tt.promise)
			command(t, lockcheck, "run", "--on", "docker", "--worker", self+" "+storeWorker+" "+tt.lock, "--store", tt.store,
				"--fault", tt.fault, "--faults", "1", "--clients", "3", "--acquires", "8", "--lease", tt.lease, "--promise", tt.promise, "--out", out).
				wants(t, held, "the lock was granted", judged)
			plans, err := filepath.Glob(filepath.Join(out, "*", scheduleFile))
			if err != nil || len(plans) != 1 {
				t.Fatalf("schedules %q (%v)", plans, err)
			}
			command(t, lockcheck, "replay", "--allow-worker", plans[0], "--promise", tt.promise, "--out", t.TempDir()).
				wants(t, held, judged)
		})
	}
}

// One suite tests workers on all stores. Each cell goes on until a run has tested its promise.
func TestASuiteOfEveryStore(t *testing.T) {
	t.Parallel()
	lockcheck := binary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "lockcheck: 1\nregressions: " + filepath.Join(dir, "past") + "\nlocks:\n"
	stores := []struct{ store, lock, promise string }{
		{"redis", "redis-set-lua", "lease-exclusion"},
		{"redlock", "redlock", "lease-exclusion"},
		{"zookeeper", "zk-recipe", "liveness"},
		{"mysql", "mysql-get-lock", "liveness"},
	}
	for _, s := range stores {
		text += fmt.Sprintf("  - {name: on-%s, worker: %s %s %s, store: %[1]s, faults: pause, faults-per-run: 1, clients: 3, acquires: 6, promises: %[5]s}\n",
			s.store, self, storeWorker, s.lock, s.promise)
	}
	file, out := filepath.Join(dir, "lockcheck.yaml"), filepath.Join(dir, "out")
	write(t, file, text)
	command(t, lockcheck, "suite", file, "--out", out).wants(t, held)
	doc, err := results.Read(out)
	if err != nil || len(doc.Cells) != len(stores) {
		t.Fatalf("%+v (%v)", doc, err)
	}
	for i, s := range stores {
		c := &doc.Cells[i]
		if p := c.Property(checker.Property(s.promise)); c.Verdict != results.Held || p.Outcome != checker.Valid.String() {
			t.Errorf("%s: %s, and %s is %s", c.Name, c.Verdict, s.promise, p.Outcome)
		}
	}
}
