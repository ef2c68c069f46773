package lockcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

var script = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func sentinelLock(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "redis-1", SentinelAddrs: e.Sentinels(), Dialer: e.DialContext, MaxRetries: -1})
	n := 0
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			n++
			id := e.Client() + string(rune('a'+n))
			ok, err := c.SetNX(ctx, name, id, e.Lease()).Result()
			if err == nil && !ok {
				err = errTaken
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error {
				k, err := script.Run(ctx, c, []string{name}, id).Int()
				if err == nil && k == 0 {
					err = errTaken
				}
				return err
			}}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		NotHeld: func(err error) bool { return errors.Is(err, errTaken) },
		Close:   c.Close,
	}, nil
}

func TestSentinel(t *testing.T) {
	lockcheck.Test(t, lockcheck.RedisSentinel(2), sentinelLock, lockcheck.For(60e9))
}
