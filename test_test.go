package lockcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

var errTaken = errors.New("taken")

// naive takes a key with SET NX PX, and deletes whatever is there.
func naive(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			ok, err := c.SetNX(ctx, name, "x", e.Lease()).Result()
			if err == nil && !ok {
				err = errTaken
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error { return c.Del(ctx, name).Err() }}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		Close:   c.Close,
	}, nil
}

func TestNaive(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("lease-exclusion", "ownership", "liveness"))
}
