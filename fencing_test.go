package lockcheck_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

// count sets a key to the next number of a counter.
var count = redis.NewScript(`
if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
local token = redis.call("INCR", KEYS[2])
redis.call("SET", KEYS[1], token, "PX", ARGV[1])
return token`)

// fenced has the number of each grant as its fencing token.
func fenced(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			token, err := count.Run(ctx, c, []string{name, name + ":token"}, e.Lease().Milliseconds()).Uint64()
			if err == nil && token == 0 {
				err = errOther
			}
			return lockcheck.Grant{Token: token, Release: func(ctx context.Context) error {
				return freeOwn.Run(ctx, c, []string{name}, token).Err()
			}}, err
		},
		Refused: func(err error) bool { return err == errOther },
		Close:   c.Close,
	}, nil
}

// A client that wakes up after its lease writes with a token that the resource refuses.
func TestTheResourceRefusesOldTokens(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), fenced, lockcheck.Promise("fencing", "resource"), lockcheck.Faults("pause"))
}
