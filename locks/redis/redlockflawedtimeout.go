package redis

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedTimeout is NewRedlock with a flaw: it asks the nodes one after
// the other, without a timeout. A node that hangs keeps the client from all the
// others, although a majority is up.
//
// Source: redlock-cpp, AddServerUrl, which has a timeout for connecting but none
// for commands; the Redis manual, "Distributed Locks with Redis", "The Redlock
// Algorithm", step 2, requires one.
func NewRedlockFlawedTimeout(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	o.Timeout = forEver
	flawed := manual
	flawed.parallel = false
	return newRedlock(h, nodes, o, flawed)
}

// forEver is longer than any run: a timeout of 0 would be the transport's
// default.
const forEver = time.Hour
