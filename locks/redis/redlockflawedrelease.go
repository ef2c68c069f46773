package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedRelease is NewRedlock with a flaw: it deletes the key only on
// nodes that answered yes. A node whose answer was lost keeps the key until it
// expires.
//
// Sources: imcoderlemon, Three ways to lock with Redis (in Chinese), the third,
// which releases on all nodes; the Redis manual, "Distributed Locks with Redis",
// "The Redlock Algorithm", step 5, and "Retry on Failure".
func NewRedlockFlawedRelease(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	flawed := manual
	flawed.grantors = true
	return newRedlock(h, nodes, o, flawed)
}
