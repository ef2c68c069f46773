package redis

import (
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewRedlockSeed is Redlock as a popular account tells it: the nodes one after
// another, the time that this took by the wall clock in milliseconds, and what
// is left of the lease without anything off for clocks that drift. How long to
// wait after a round that failed it does not say: here it is always T/50, so
// that clients who split the nodes between them meet again.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the third.
func NewRedlockSeed(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	o.FixedWait = true
	r := newRedlock(h, nodes, o, recipe{clock: wall, drift: noDrift, quorum: majority})
	return &r
}
