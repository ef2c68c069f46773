package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockSeed is Redlock as a popular article describes it. It asks the nodes
// one after the other, measures the round with the wall clock in milliseconds,
// and does not shorten the lease for clock drift. The article does not say how
// long to wait after a failed round: here it is always T/50, so that clients that
// split the nodes between them collide again.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the third.
func NewRedlockSeed(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	o.FixedWait = true
	return newRedlock(h, nodes, o, recipe{clock: wall, drift: noDrift, quorum: majority})
}
