package docker_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// An ensemble has one leader, and another one when that is killed, stopped or cut off.
// The old one comes back.
func TestEnsemble(t *testing.T) {
	t.Parallel()
	start := time.Now()
	g := dockertest.ZooKeeper(t)
	t.Logf("up after %v", time.Since(start))
	ctx := t.Context()
	// another waits until another server leads.
	another := func(old *docker.ZooKeeperServer) {
		t.Helper()
		for limit := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			leader, err := g.Leader(ctx)
			must(t, err)
			if leader != old {
				return
			}
			if time.Now().After(limit) {
				t.Fatal("no other server leads")
			}
		}
	}
	for _, c := range []struct {
		name      string
		end, mend func(*docker.ZooKeeperServer) error
	}{
		{"kill", func(s *docker.ZooKeeperServer) error { return s.Kill(ctx) }, func(s *docker.ZooKeeperServer) error { return s.Start(ctx) }},
		{"pause", func(s *docker.ZooKeeperServer) error { return s.Pause(ctx) }, func(s *docker.ZooKeeperServer) error { return s.Continue(ctx) }},
		{"isolate", func(s *docker.ZooKeeperServer) error { return g.Isolate(ctx, s) }, func(s *docker.ZooKeeperServer) error { return s.Heal(ctx) }},
	} {
		leader, err := g.Leader(ctx)
		must(t, err)
		at := time.Now()
		must(t, c.end(leader))
		another(leader)
		took := time.Since(at)
		must(t, c.mend(leader))
		must(t, leader.Serves(ctx))
		t.Logf("%s: another leads after %v, all is well after %v", c.name, took, time.Since(at))
	}
}
