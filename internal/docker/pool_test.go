package docker_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/env"
)

// A run gets the containers of one that has ended, without its files and rules. The end of
// the pool removes them. After an interrupt none is kept, nor after a run in which nobody has
// found the servers alive at the end.
func TestContainersServeSeveralRuns(t *testing.T) {
	t.Parallel()
	dockertest.Require(t)
	for _, id := range []string{"redis-set-lua", "zk-recipe", "mysql-fair-fixed"} {
		t.Run(id, func(t *testing.T) {
			lock, _ := catalogue.FindLock(id)
			pool := new(docker.Pool)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			open := docker.Opener(ctx, docker.Options{Log: t.Output()}, pool)
			begin := func() *docker.Environment {
				p, err := open(env.Config{Lock: lock, Lease: 4 * time.Second, Clients: []string{"c1"}, Names: []string{"a"}}, &witness{})
				must(t, err)
				return p.(*docker.Environment)
			}
			first := begin()
			used := docker.Containers(first)
			for server := range used {
				must(t, docker.RunIn(first, server, "touch /data/junk /data/.junk /faketime/junk"))
			}
			must(t, first.Alive())
			must(t, first.Close())
			second := begin()
			if again := docker.Containers(second); !maps.Equal(again, used) && len(again) == 1 {
				t.Errorf("the second run has %v, and the first had %v", again, used)
			}
			for server := range used {
				must(t, docker.RunIn(second, server, "[ ! -e /data/junk ] && [ ! -e /data/.junk ] && [ ! -e /faketime/junk ]"))
			}
			must(t, second.Alive())
			must(t, second.Close())
			must(t, pool.Close(ctx))
			if left, err := docker.Left(ctx, second); len(left) > 0 || err != nil {
				t.Errorf("after the end of the pool there are %v, %v", left, err)
			}
			third := begin()
			must(t, third.Close())
			if left, err := docker.Left(ctx, third); len(left) > 0 || err != nil {
				t.Errorf("after a run without an end there are %v, %v", left, err)
			}
			fourth := begin()
			must(t, fourth.Alive())
			cancel()
			fourth.Close()
			if left, err := docker.Left(t.Context(), fourth); len(left) > 0 || err != nil {
				t.Errorf("after an interrupt there are %v, %v", left, err)
			}
		})
	}
}
