package lockcheck_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

var errOther = errors.New("another client has the lock")

// freeOwn deletes a key if it has that value.
var freeOwn = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// repaired sets a key to a token of its own, and deletes the key only if it has that token.
func repaired(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			token := rand.Text()
			ok, err := c.SetNX(ctx, name, token, e.Lease()).Result()
			if err == nil && !ok {
				err = errOther
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error {
				return freeOwn.Run(ctx, c, []string{name}, token).Err()
			}}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errOther) },
		Close:   c.Close,
	}, nil
}

// In your test file, this is TestRepaired.
func testRepaired(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), repaired, lockcheck.Promise("ownership"), lockcheck.Faults("pause"))
}

// With a token for each grant, nobody deletes the lock of another client.
func Example_repaired() {
	var t *testing.T // the argument of TestRepaired
	testRepaired(t)
}
