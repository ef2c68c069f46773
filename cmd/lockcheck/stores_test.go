package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
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
// schedule has the store, so that a replay has the same servers. Real time decides whether
// a run proves something.
func TestWorkersForEveryStore(t *testing.T) {
	dockertest.Require(t)
	lockcheck := binary(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ store, lock, fault string }{
		{"redlock", "redlock", "restart"},
		{"sentinel", "redis-set-lua", "pause"},
		{"zookeeper", "zk-recipe", "session-expiry"},
		{"mysql", "mysql-get-lock", "session-expiry"},
	} {
		t.Run(tt.store, func(t *testing.T) {
			out := t.TempDir()
			ends := func(r result, says string) {
				t.Helper()
				if r.code != held && r.code != unproven || !strings.Contains(r.stdout, says) {
					t.Errorf("exit code %d, want %q\n%s%s", r.code, says, r.stdout, r.stderr)
				}
			}
			ends(command(t, lockcheck, "run", "--on", "docker", "--worker", self+" "+storeWorker+" "+tt.lock, "--store", tt.store,
				"--fault", tt.fault, "--clients", "3", "--acquires", "5", "--promise", "liveness", "--out", out), "the lock was granted")
			plans, err := filepath.Glob(filepath.Join(out, "*", scheduleFile))
			if err != nil || len(plans) != 1 {
				t.Fatalf("schedules %q (%v)", plans, err)
			}
			ends(command(t, lockcheck, "replay", "--allow-worker", plans[0], "--promise", "liveness", "--out", t.TempDir()), "liveness")
		})
	}
}
