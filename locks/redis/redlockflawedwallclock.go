package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedWallClock is NewRedlock with a flaw: it measures a round with
// the wall clock. A clock that is set back during the round hides its length.
//
// Source: S. Sanfilippo, Is Redlock safe?, which asks for a monotonic clock.
func NewRedlockFlawedWallClock(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	flawed := manual
	flawed.clock = wall
	return newRedlock(h, nodes, o, flawed)
}
