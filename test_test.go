package lockcheck_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

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

func TestNoPromise(t *testing.T) { lockcheck.Test(t, lockcheck.Redis(1), naive) }

func TestPar(t *testing.T) { t.Parallel(); lockcheck.Test(t, lockcheck.Redis(1), naive) }

func TestPanic(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(*lockcheck.Env) (lockcheck.Lock, error) { panic("boom") }, lockcheck.Faults("none"))
}
func TestErr(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(*lockcheck.Env) (lockcheck.Lock, error) { return lockcheck.Lock{}, errTaken }, lockcheck.Faults("none"))
}
func TestEmpty(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(*lockcheck.Env) (lockcheck.Lock, error) { return lockcheck.Lock{}, nil }, lockcheck.Faults("none"))
}
func TestNoRelease(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(*lockcheck.Env) (lockcheck.Lock, error) {
		return lockcheck.Lock{Acquire: func(ctx context.Context, name string) (lockcheck.Grant, error) { return lockcheck.Grant{}, nil }}, nil
	}, lockcheck.Faults("none"), lockcheck.Promise("exclusion"))
}
func TestSame(t *testing.T) {
	var l *lockcheck.Lock
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		if l == nil {
			n, err := naive(e)
			l = &n
			return n, err
		}
		return *l, nil
	}, lockcheck.Faults("none"))
}
func TestNeverReleases(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := naive(e)
		acquire := l.Acquire
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			g, err := acquire(ctx, name)
			g.Release = func(context.Context) error { select {} }
			return g, err
		}
		return l, err
	}, lockcheck.Faults("none"))
}
func TestSpins(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := naive(e)
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			for {
			}
		}
		return l, err
	}, lockcheck.Faults("none"))
}
func TestPast(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := naive(e)
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			_, err := http.Get("http://10.0.0.1/")
			return lockcheck.Grant{}, err
		}
		return l, err
	}, lockcheck.Faults("none"))
}
func TestLeak(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := naive(e)
		go func() { time.Sleep(time.Second); select {} }()
		return l, err
	}, lockcheck.Faults("none"))
}
func TestWrong(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("paus"))
}
func TestWrong2(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Promise("lease-exclusio"))
}
func TestWrong3(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), naive, lockcheck.Faults("skew"))
}
func TestOpPanic(t *testing.T) {
	lockcheck.Test(t, lockcheck.Redis(1), func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := naive(e)
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) { panic("ouch") }
		return l, err
	}, lockcheck.Faults("none"))
}
