package docker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
)

// declaring runs a script with a worker that declares entries in a store and does nothing
// else: the script acts as the clients.
func declaring(t *testing.T, w *witness, store, entries string, script func(p *docker.Environment)) {
	t.Helper()
	lock, err := catalogue.WorkerLock("worker", store)
	must(t, err)
	p, err := docker.New(t.Context(), env.Config{
		Lock: lock, Lease: 4 * time.Second, Clients: []string{"c1", "c2"}, Names: []string{"a"}, Seed: 1,
		Worker: []string{"sh", "-c", `read q; echo '{"id":1,"ok":true,"entries":[` + entries + `]}'; exec cat >/dev/null`},
	}, w, docker.Options{Log: t.Output()})
	must(t, err)
	p.Go(func() { script(p) })
	must(t, p.Run())
	if got := p.Observes(); !slices.Contains(got, "ownership") || !slices.Contains(got, "answers") {
		t.Errorf("observes %q", got)
	}
	must(t, p.Close())
}

// A worker's table is observed from its declaration on: the owner in a row has the lock.
func TestRowsThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "mysql", `{"mysql":{"table":"lockcheck_lock","key":"resource","owner":"owner"}}`, func(p *docker.Environment) {
		c1, c2 := through(t, p, "c1"), through(t, p, "c2")
		does(t, p, c1, "c1", 1, "INSERT INTO lockcheck_lock (resource, version_no, expire_time, owner) VALUES ('a', 0, 5, 'c1')")
		does(t, p, c2, "c2", 2, "UPDATE lockcheck_lock SET owner = 'c2' WHERE resource = 'a'")
		does(t, p, c2, "c2", 3, "UPDATE lockcheck_lock SET owner = NULL WHERE resource = 'a'")
		does(t, p, c1, "c1", 4, "UPDATE lockcheck_lock SET owner = 'c1' WHERE resource = 'a' AND owner IS NULL")
		does(t, p, c2, "c2", 5, "DELETE FROM lockcheck_lock")
	})
	wantLines(t, w, "grant a of 1 by 1", "takeover a of 1 by 2", "grant a of 2 by 2", "remove a of 2 by 3", "grant a of 4 by 4", "remove a of 4 by 5")
}

// A worker's keys are entries if it declares them, and others are none.
func TestKeysThatAWorkerDeclares(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	w := &witness{}
	declaring(t, w, "redis", `{"redis":"lock:{name}"}`, func(p *docker.Environment) {
		wantSaid(t, p, redis1, 1, "SET lock:a v1 NX PX 60000", "+OK")
		wantSaid(t, p, redis1, 2, "SET a v2", "+OK")
		wantSaid(t, p, redis1, 3, "DEL lock:a", ":1")
	})
	wantLines(t, w, "grant lock:a of 1 by 1", "remove lock:a of 1 by 3")
}
