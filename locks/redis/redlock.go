package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlock takes the lock on several independent nodes: SET NX PX on all of
// them at once, each with a short timeout. It has the lock if a majority granted
// it and part of the lease is left. A clock that never jumps measures the time of
// the round, and a margin allows for differences between the nodes' clocks.
// Otherwise it deletes the key on all nodes and tries again after a random time.
//
// No node may lose a key before its expiry: neither by a restart without its
// data, nor by a clock that jumps, nor by a failover to a replica. And it is a
// lease: after its end the resource is safe only with fencing, and the lock draws
// no tokens.
//
// Sources: the Redis manual, "Distributed Locks with Redis", "The Redlock
// Algorithm", "Retry on Failure"; S. Sanfilippo, Is Redlock safe?
func NewRedlock(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	return newRedlock(h, nodes, o, manual)
}

// manual is Redlock as in the Redis manual.
var manual = recipe{clock: mono, drift: hundredth, quorum: majority, parallel: true}
