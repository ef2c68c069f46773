package lockcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

var errTaken = errors.New("somebody else has it")

// naive sets a key, and deletes whatever is there.
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

// In your test file, this is TestNaive.
func testNaive(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("ownership"), lockcheck.Faults("pause"))
}

// A client that sleeps for longer than its lease deletes the lock of the next one: this test
// fails, and tells how.
func Example_naive() {
	var t *testing.T // the argument of TestNaive
	testNaive(t)
}
