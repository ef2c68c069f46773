package lockcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

// newRedsync makes the lock of one client with redsync, which asks all servers.
func newRedsync(e *lockcheck.Env) (lockcheck.Lock, error) {
	var pools []redsyncredis.Pool
	var clients []*redis.Client
	for _, addr := range e.Addrs() {
		c := redis.NewClient(&redis.Options{Addr: addr, Dialer: e.DialContext})
		pools, clients = append(pools, goredis.NewPool(c)), append(clients, c)
	}
	rs := redsync.New(pools...)
	acquire := func(ctx context.Context, name string) (lockcheck.Grant, error) {
		m := rs.NewMutex(name, redsync.WithExpiry(e.Lease()), redsync.WithTries(1))
		if err := m.LockContext(ctx); err != nil {
			return lockcheck.Grant{}, err
		}
		return lockcheck.Grant{Until: m.Until(), Release: func(ctx context.Context) error {
			_, err := m.UnlockContext(ctx)
			return err
		}}, nil
	}
	refused := func(err error) bool { return errors.As(err, new(*redsync.ErrTaken)) }
	closeAll := func() (err error) {
		for _, c := range clients {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	return lockcheck.Lock{Acquire: acquire, Refused: refused, Close: closeAll}, nil
}

// In your test file, this is TestRedsync.
func testRedsync(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(5), newRedsync,
		lockcheck.Promise("lease-exclusion", "ownership"), lockcheck.Faults("pause", "kill"), lockcheck.Runs(20))
}

// A library that asks five servers keeps its promises when clients pause and die.
func Example_redsync() {
	var t *testing.T // the argument of TestRedsync
	testRedsync(t)
}
