package adapters_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

// A lock by hand, with go-redis: first as many write it, then repaired.

var (
	errTaken   = errors.New("somebody else has the lock")
	errNotHeld = errors.New("somebody else has the lock by now, or nobody")
)

// newNaive takes a key with SETNX, and deletes it whoever has it by then.
func newNaive(e *lockcheck.Env) (lockcheck.Lock, error) {
	client := connectRedis(e, 0)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			ok, err := client.SetNX(ctx, name, "locked", e.Lease()).Result()
			if err == nil && !ok {
				err = errTaken
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error { return client.Del(ctx, name).Err() }}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		Close:   client.Close,
	}, nil
}

// A client whose lease has ended deletes the lock of the next one.
func TestNaiveFreesTheLockOfAnother(t *testing.T) {
	if fails(t, "ownership is violated", "paused for") {
		return
	}
	lockcheck.Test(t, lockcheck.Redis(1), newNaive, lockcheck.Faults("pause"), lockcheck.Promise("ownership"))
}

// go-redis repeats a request whose answer did not come. The lock is then refused to the
// client that has it.
func TestNaiveIsRefusedItsOwnLock(t *testing.T) {
	if fails(t, "answers is violated", "was told that it did not get", "the entry was its own") {
		return
	}
	lockcheck.Test(t, lockcheck.Redis(1), newNaive, lockcheck.Faults("drop-reply"), lockcheck.Promise("answers"))
}

// newRepaired writes a token of its own, and deletes the key only if the token is still
// there. A repeated request finds that token, too.
func newRepaired(e *lockcheck.Env) (lockcheck.Lock, error) {
	client := connectRedis(e, 0)
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			token := rand.Text()
			err := take.Run(ctx, client, []string{name}, token, e.Lease().Milliseconds()).Err()
			if errors.Is(err, redis.Nil) {
				err = errTaken
			}
			return lockcheck.Grant{Release: func(ctx context.Context) error {
				n, err := giveBack.Run(ctx, client, []string{name}, token).Int()
				if err == nil && n == 0 {
					err = errNotHeld
				}
				return err
			}}, err
		},
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		NotHeld: func(err error) bool { return errors.Is(err, errNotHeld) },
		Close:   client.Close,
	}, nil
}

var (
	take = redis.NewScript(`
		if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) or redis.call("GET", KEYS[1]) == ARGV[1] then return 1 end
		return false`)
	giveBack = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`)
)

func TestRepaired(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRepaired, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "answers", "liveness"))
}

// Whatever happens, the repaired lock frees no lock of another.
func TestRepairedOwnership(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRepaired, patience, worse, lockcheck.Promise("ownership", "answers", "liveness"))
}
