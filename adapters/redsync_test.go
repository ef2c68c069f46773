package adapters_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockcheck/lockcheck"
)

// github.com/go-redsync/redsync/v4, on one server and on five

func newRedsync(e *lockcheck.Env) (lockcheck.Lock, error) {
	var pools []redis.Pool
	var closes []func() error
	for i := range e.Addrs() {
		client := connectRedis(e, i)
		pools, closes = append(pools, goredis.NewPool(client)), append(closes, client.Close)
	}
	rs := redsync.New(pools...)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			m := rs.NewMutex(name, redsync.WithExpiry(e.Lease()), redsync.WithTries(1))
			if err := m.LockContext(ctx); err != nil {
				return lockcheck.Grant{}, err
			}
			return lockcheck.Grant{Until: m.Until(), Release: func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}}, nil
		},
		Refused: func(err error) bool { return errors.As(err, new(*redsync.ErrTaken)) },
		NotHeld: func(err error) bool { return errors.Is(err, redsync.ErrLockAlreadyExpired) },
		Close: func() (err error) {
			for _, f := range closes {
				err = errors.Join(err, f())
			}
			return err
		},
	}, nil
}

func TestRedsync(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedsync, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

// Servers that come back empty have forgotten the lock.
func TestRedsyncLosesTheLock(t *testing.T) {
	if fails(t, "lease-exclusion is violated", "redis-1 lost") {
		return
	}
	lockcheck.Test(t, lockcheck.Redis(1), newRedsync, patience, lockcheck.Faults("restart-lost"), lockcheck.Promise("lease-exclusion"))
}

func TestRedsyncFive(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(5), newRedsync, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "liveness"))
}

// Five servers are as good as the majority of them.
func TestRedsyncFiveLoseTheLock(t *testing.T) {
	if fails(t, "lease-exclusion is violated", "lost") {
		return
	}
	lockcheck.Test(t, lockcheck.Redis(5), newRedsync, patience, lockcheck.Faults("restart-lost"), lockcheck.Promise("lease-exclusion"))
}
