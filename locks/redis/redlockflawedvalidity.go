package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedValidity is NewRedlock with a flaw: after a round that was not
// too slow it assumes the whole lease. But each node counts from the moment at
// which it set its key.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the third,
// whose fourth step subtracts the time of the round.
func NewRedlockFlawedValidity(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	flawed := manual
	flawed.restart = true
	return newRedlock(h, nodes, o, flawed)
}
