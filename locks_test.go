package lockcheck_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"github.com/lockcheck/lockcheck"
)

// The locks of these tests, with the client libraries as anybody would use them.

var errNotOurs = errors.New("it is not ours")

// release deletes a key that still has its value.
var release = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)

// extend lets a key that still has its value live for longer.
var extend = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0`)

// owned is naive, repaired: a client deletes only its own value.
func owned(e *lockcheck.Env) (lockcheck.Lock, error) {
	return ownedBy(e, redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1}))
}

// readsFirst is owned with a release that reads the key, and deletes it by a second command.
func readsFirst(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	l, err := ownedBy(e, c)
	l.Try = nil
	l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
		value := fmt.Sprint(e.Client(), "-", e.Rand().Uint64())
		ok, err := c.SetNX(ctx, name, value, e.Lease()).Result()
		if err == nil && !ok {
			err = errTaken
		}
		return lockcheck.Grant{Release: func(ctx context.Context) error {
			got, err := c.Get(ctx, name).Result()
			if errors.Is(err, redis.Nil) || err == nil && got != value {
				return errNotOurs
			}
			if err == nil {
				err = c.Del(ctx, name).Err()
			}
			return err
		}}, err
	}
	return l, err
}

// takesOver is owned with entries that never expire: their value says until when they count. A
// client that reads one which is over writes its own, by a second command.
func takesOver(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	l, err := ownedBy(e, c)
	l.Try = nil
	l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
		until := time.Now().Add(e.Lease())
		value := fmt.Sprint(until.UnixMilli(), " ", e.Client(), "-", e.Rand().Uint64())
		ok, err := c.SetNX(ctx, name, value, 0).Result()
		if err == nil && !ok {
			err = takeOver(ctx, c, name, value)
		}
		return lockcheck.Grant{Until: until, Release: func(ctx context.Context) error {
			n, err := release.Run(ctx, c, []string{name}, value).Int()
			if err == nil && n == 0 {
				err = errNotOurs
			}
			return err
		}}, err
	}
	return l, err
}

func takeOver(ctx context.Context, c *redis.Client, name, value string) error {
	got, err := c.Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		return errTaken
	}
	over := int64(0)
	if fmt.Sscan(got, &over); err == nil && time.Now().UnixMilli() <= over {
		err = errTaken
	}
	if err != nil {
		return err
	}
	return c.Set(ctx, name, value, 0).Err()
}

// extendsAny is owned with an extend that does not look whose key it is.
func extendsAny(e *lockcheck.Env) (lockcheck.Lock, error) {
	c := redis.NewClient(&redis.Options{Addr: e.Addr(0), Dialer: e.DialContext, MaxRetries: -1})
	l, err := ownedBy(e, c)
	acquire := l.Acquire
	l.Try = nil
	l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
		g, err := acquire(ctx, name)
		g.Extend = func(ctx context.Context) (time.Time, error) {
			ok, err := c.PExpire(ctx, name, e.Lease()).Result()
			if err == nil && !ok {
				err = errNotOurs
			}
			return time.Time{}, err
		}
		return g, err
	}
	return l, err
}

// watched is owned on a master that Sentinels watch over.
func watched(e *lockcheck.Env) (lockcheck.Lock, error) {
	return ownedBy(e, redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "redis-1", SentinelAddrs: e.Sentinels(), Dialer: e.DialContext, MaxRetries: -1,
	}))
}

func ownedBy(e *lockcheck.Env, c *redis.Client) (lockcheck.Lock, error) {
	try := func(ctx context.Context, name string) (lockcheck.Grant, error) {
		value := fmt.Sprint(e.Client(), "-", e.Rand().Uint64())
		ours := func(n int, err error) error {
			if err == nil && n == 0 {
				err = errNotOurs
			}
			return err
		}
		ok, err := c.SetNX(ctx, name, value, e.Lease()).Result()
		if err == nil && !ok {
			err = errTaken
		}
		return lockcheck.Grant{
			Release: func(ctx context.Context) error { return ours(release.Run(ctx, c, []string{name}, value).Int()) },
			Extend: func(ctx context.Context) (time.Time, error) {
				return time.Time{}, ours(extend.Run(ctx, c, []string{name}, value, e.Lease().Milliseconds()).Int())
			},
		}, err
	}
	return lockcheck.Lock{
		Acquire: try,
		Try:     try,
		Refused: func(err error) bool { return errors.Is(err, errTaken) },
		NotHeld: func(err error) bool { return errors.Is(err, errNotOurs) },
		Close:   c.Close,
	}, nil
}

// watchdog is owned with a task that renews the lease each T/3.
func watchdog(e *lockcheck.Env) (lockcheck.Lock, error) { return renews(owned)(e) }

// neverRenews is watchdog with a task that does nothing.
func neverRenews(e *lockcheck.Env) (lockcheck.Lock, error) {
	return renews(func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := owned(e)
		acquire := l.Acquire
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			g, err := acquire(ctx, name)
			g.Extend = func(context.Context) (time.Time, error) { return time.Time{}, nil }
			return g, err
		}
		return l, err
	})(e)
}

// renews adds a task to a lock that extends it each T/3.
func renews(factory func(*lockcheck.Env) (lockcheck.Lock, error)) func(*lockcheck.Env) (lockcheck.Lock, error) {
	return func(e *lockcheck.Env) (lockcheck.Lock, error) {
		l, err := factory(e)
		acquire := l.Acquire
		l.Try = nil
		l.Acquire = func(ctx context.Context, name string) (lockcheck.Grant, error) {
			g, err := acquire(ctx, name)
			if err != nil {
				return g, err
			}
			life, stop := context.WithCancel(context.Background())
			extend, release := g.Extend, g.Release
			go func() {
				for {
					select {
					case <-life.Done():
						return
					case <-time.After(e.Lease() / 3):
					}
					extend(life)
				}
			}()
			g.Extend = nil
			g.Release = func(ctx context.Context) error {
				stop()
				return release(ctx)
			}
			return g, nil
		}
		return l, err
	}
}

// queue is the lock of go-zookeeper.
func queue(e *lockcheck.Env) (lockcheck.Lock, error) {
	c, _, err := zk.Connect(e.Addrs(), e.Lease(), zk.WithDialer(e.DialTimeout), zk.WithLogger(silent{}))
	if err != nil {
		return lockcheck.Lock{}, err
	}
	return lockcheck.Lock{
		Acquire: func(_ context.Context, name string) (lockcheck.Grant, error) {
			l := zk.NewLock(c, "/locks/"+name, zk.WorldACL(zk.PermAll))
			return lockcheck.Grant{Release: func(context.Context) error { return l.Unlock() }}, l.Lock()
		},
		NotHeld: func(err error) bool { return errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNotLocked) },
		Close:   func() error { c.Close(); return nil },
	}, nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}
