package redis

import (
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewRedlockFlawedSeconds is NewRedlock with a flaw: it counts whole seconds. A
// round may have taken almost a second more than measured. A round of one
// millisecond during which a second ends seems to take a second, which may be all
// of a short lease.
//
// Source: redlock-cpp, Lock, which reads time(NULL).
func NewRedlockFlawedSeconds(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	flawed := manual
	flawed.clock = wallSeconds
	return newRedlock(h, nodes, o, flawed)
}
