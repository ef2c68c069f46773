package adapters_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockcheck/lockcheck"
)

// github.com/redis/rueidis/rueidislock. RetryDelay replaces a delay that is drawn from
// math/rand/v2, so that a seed repeats. NewLocker connects, and fails if it cannot:
// lockcheck calls the factory again then.

func newRueidislock(e *lockcheck.Env) (lockcheck.Lock, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyMajority: 1,
		KeyValidity: e.Lease(),
		ClientOption: rueidis.ClientOption{
			InitAddress:  e.Addrs(),
			DisableCache: true,
			RetryDelay:   func(int, rueidis.Completed, error) time.Duration { return 10 * time.Millisecond },
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return e.DialContext(ctx, "tcp", addr)
			},
		},
	})
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) {
			held, release, err := locker.TryWithContext(context.WithoutCancel(ctx), name)
			if err != nil {
				return lockcheck.Grant{}, err
			}
			return lockcheck.Grant{Lost: held.Done(), Release: func(context.Context) error { release(); return nil }}, nil
		},
		Refused: func(err error) bool { return errors.Is(err, rueidislock.ErrNotLocked) },
		Close:   func() error { locker.Close(); return nil },
	}, nil
}

func TestRueidislock(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), newRueidislock, patience, survived,
		lockcheck.Promise("lease-exclusion", "ownership", "liveness"))
}
