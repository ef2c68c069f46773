package adapters_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bsm/redislock"

	"github.com/lockcheck/lockcheck"
)

// github.com/bsm/redislock

func newRedislock(e *lockcheck.Env) (lockcheck.Lock, error) {
	client := connectRedis(e, 0)
	locker := redislock.New(client)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			l, err := locker.Obtain(ctx, name, e.Lease(), nil)
			if err != nil {
				return lockcheck.Grant{}, err
			}
			return lockcheck.Grant{Release: l.Release}, nil
		},
		Refused: func(err error) bool { return errors.Is(err, redislock.ErrNotObtained) },
		NotHeld: func(err error) bool { return errors.Is(err, redislock.ErrLockNotHeld) },
		Close:   client.Close,
	}, nil
}

func TestRedislock(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislock, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

// Whatever happens, redislock frees no lock of another.
func TestRedislockOwnership(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislock, patience, worse, lockcheck.Promise("ownership", "answers", "liveness"))
}

// A lease in one server's memory ends with that memory.
func TestRedislockEvicted(t *testing.T) {
	if fails(t, "lease-exclusion is violated", "redis-1 evicted") {
		return
	}
	lockcheck.Test(t, lockcheck.Redis(1), newRedislock, lockcheck.Faults("evict"), lockcheck.Promise("lease-exclusion"))
}
