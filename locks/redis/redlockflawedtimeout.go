package redis

import (
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewRedlockFlawedTimeout is NewRedlock with a flaw: it asks the nodes one after
// another, and waits for each for as long as it takes. One that hangs keeps the
// client from all the others, although a majority is up.
//
// Source: redlock-cpp, AddServerUrl, which limits the time to connect and that
// of no command; the Redis manual, "Distributed Locks with Redis", "The Redlock
// Algorithm", step 2, asks for a limit.
func NewRedlockFlawedTimeout(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	o.Timeout = forEver
	flawed := manual
	flawed.parallel = false
	r := newRedlock(h, nodes, o, flawed)
	return &r
}

// forEver is longer than any run: a time-out of 0 would be the transport's own.
const forEver = time.Hour
