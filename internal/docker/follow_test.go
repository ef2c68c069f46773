package docker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/locks"
)

// Clients find the new master through Sentinels. A grant of the old master is released
// on the new one.
func TestClientsFollowTheMaster(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	s := replicated()
	s.lease = 2 * replicatedLease
	var name string
	observed(t, s.run(t, w, func(p *docker.Environment) {
		c1, c2 := p.Client("c1"), p.Client("c2")
		acquire(t, c1, op(1), time.Second)
		wantSaid(t, p, redis1, 0, "WAIT 2 30000", ":2")
		must(t, p.Stop(redis1, true))
		name = promoted(t, p, w, "dies")
		if _, err := c2.Acquire(op(2), 500*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("acquire of a lock that the new master has: %v", err)
		}
		must(t, c1.Release(op(3)))
		acquire(t, c2, op(4), time.Second)
		must(t, p.Start(redis1))
		must(t, c2.Release(op(5)))
	}))
	wantLines(t, w, "redis-1: grant a of 1 by 1", name+": promote after redis-1", name+": remove a of 1 by 3",
		name+": grant a of 4 by 4", name+": remove a of 4 by 5")
}
