package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedQuorum is NewRedlock with a flaw: a majority of the nodes that
// answered is enough. Two clients that reach different nodes both have one.
//
// Source: SPSCommerce/redlock-py, issue 6.
func NewRedlockFlawedQuorum(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	flawed := manual
	flawed.quorum = func(_, answered int) int { return answered/2 + 1 }
	return newRedlock(h, nodes, o, flawed)
}
