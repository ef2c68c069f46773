package redis

import (
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewRedlock takes the lock on several nodes that know nothing of one another:
// SET NX PX on all of them at once, each with a short time-out. It has the lock
// if a majority granted it and something of the lease is left, after the time
// that this took, by a clock that never jumps, and after what the nodes' clocks
// may differ by. Else it deletes the key on all nodes, and tries again after a
// random time.
//
// No node may forget a key before it ends: not by a restart without its data,
// not by a clock that jumps, not by a replica that takes over. And it is a lease:
// beyond its end what it guards is safe only with fencing, and it draws no tokens.
//
// Sources: the Redis manual, "Distributed Locks with Redis", "The Redlock
// Algorithm", "Retry on Failure"; S. Sanfilippo, Is Redlock safe?
func NewRedlock(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	r := newRedlock(h, nodes, o, manual)
	return &r
}

// manual is Redlock as the Redis manual has it.
var manual = recipe{clock: mono, drift: hundredth, quorum: majority, parallel: true}
