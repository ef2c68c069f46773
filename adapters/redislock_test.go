package adapters_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/lockcheck/lockcheck"
)

// github.com/bsm/redislock

func newRedislock(e *lockcheck.Env) (lockcheck.Lock, error) {
	return obtain(e, &redislock.Options{}), nil
}

// newRedislockRetries lets Obtain wait.
func newRedislockRetries(e *lockcheck.Env) (lockcheck.Lock, error) {
	return obtain(e, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}), nil
}

// newRedislockNames makes the client's name its token: no two clients have the same.
func newRedislockNames(e *lockcheck.Env) (lockcheck.Lock, error) {
	return obtain(e, &redislock.Options{Token: e.Client()}), nil
}

// newRedislockMetadata writes the client's name beside the token.
func newRedislockMetadata(e *lockcheck.Env) (lockcheck.Lock, error) {
	return obtain(e, &redislock.Options{Metadata: e.Client()}), nil
}

func obtain(e *lockcheck.Env, options *redislock.Options) lockcheck.Lock {
	client := connectRedis(e, 0)
	locker := redislock.New(client)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			until := time.Now().Add(e.Lease())
			l, err := locker.Obtain(ctx, name, e.Lease(), options)
			if err != nil {
				return lockcheck.Grant{}, err
			}
			if options.RetryStrategy != nil {
				until = time.Time{} // it is not known which of the tries succeeded
			}
			return lockcheck.Grant{Until: until, Release: l.Release, Extend: func(ctx context.Context) (time.Time, error) {
				until := time.Now().Add(e.Lease())
				return until, l.Refresh(ctx, e.Lease(), nil)
			}}, nil
		},
		Refused: func(err error) bool { return errors.Is(err, redislock.ErrNotObtained) },
		NotHeld: func(err error) bool {
			return errors.Is(err, redislock.ErrLockNotHeld) || errors.Is(err, redislock.ErrNotObtained)
		},
		Close: client.Close,
	}
}

func TestRedislock(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislock, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

func TestRedislockRetries(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislockRetries, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

func TestRedislockMetadata(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislockMetadata, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

// Whatever happens, redislock frees no lock of another.
func TestRedislockOwnership(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRedislock, patience, worse, lockcheck.Promise("ownership", "answers", "liveness"))
}
