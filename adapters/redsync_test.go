package adapters_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockcheck/lockcheck"
)

// github.com/go-redsync/redsync/v4, on one server and on five

func newRedsync(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newRedsyncWith(e, redsync.WithTries(1))
}

// newRedsyncTries has the default number of tries, 32.
func newRedsyncTries(e *lockcheck.Env) (lockcheck.Lock, error) { return newRedsyncWith(e) }

// newRedsyncSetNX writes a lost entry anew when it extends.
func newRedsyncSetNX(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newRedsyncWith(e, redsync.WithTries(1), redsync.WithSetNXOnExtend())
}

// newRedsyncShort has leases of half a second.
func newRedsyncShort(e *lockcheck.Env) (lockcheck.Lock, error) {
	return newRedsyncWith(e, redsync.WithTries(1), redsync.WithExpiry(e.Lease()/20))
}

func newRedsyncWith(e *lockcheck.Env, options ...redsync.Option) (lockcheck.Lock, error) {
	var pools []redis.Pool
	var closes []func() error
	for i := range e.Addrs() {
		client := connectRedis(e, i)
		pools, closes = append(pools, goredis.NewPool(client)), append(closes, client.Close)
	}
	rs := redsync.New(pools...)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			m := rs.NewMutex(name, append([]redsync.Option{redsync.WithExpiry(e.Lease())}, options...)...)
			if err := m.LockContext(ctx); err != nil {
				return lockcheck.Grant{}, err
			}
			return lockcheck.Grant{Until: m.Until(), Release: func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}, Extend: func(ctx context.Context) (time.Time, error) {
				_, err := m.ExtendContext(ctx)
				return m.Until(), err
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

func TestRedsyncTries(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedsyncTries, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

func TestRedsyncSetNX(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedsyncSetNX, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "liveness"))
}

func TestRedsyncShort(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedsyncShort, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

func TestRedsyncFive(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(5), newRedsync, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "liveness"))
}
