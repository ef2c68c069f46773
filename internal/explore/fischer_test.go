package explore

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// fischer is Fischer's algorithm without its wait. It reads the key until that is
// empty, writes its own name, and enters if it still reads that name, checks times
// over. The wait would outlast every write on its way. Here a single write that takes
// longer than another client's write and all its checks lets both in: the lock is wrong
// by order alone. The more it checks, the more messages must come before that single
// one.
type fischer struct {
	host   locks.Host
	port   redis.Port
	checks int
}

// newFischer returns a lock for Settings.Use.
func newFischer(checks int) *catalogue.Lock {
	return &catalogue.Lock{
		ID: "fischer", Steps: catalogue.Requests{Acquire: 2 + checks, Release: 1}, Lease: catalogue.LeaseNone,
		New: func(e catalogue.Env) locks.Locker { return &fischer{e.Host, e.Redis[0], checks} },
	}
}

func (l *fischer) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	me := l.host.Unique()
	for {
		l.host.Mark("try")
		ok, err := l.try(ctx, name, me)
		if ok || err != nil {
			return fischerLease{l, name}, err
		}
		if l.host.Backoff(ctx, time.Millisecond, 10*time.Millisecond) != nil {
			return nil, locks.ErrNotAcquired
		}
	}
}

func (l *fischer) try(ctx context.Context, name, me string) (bool, error) {
	if _, taken, err := l.port.Get(ctx, 0, name); taken || err != nil {
		return false, err
	}
	if err := l.port.Set(ctx, 0, name, me, 0); err != nil {
		return false, err
	}
	for range l.checks {
		if in, _, err := l.port.Get(ctx, 0, name); in != me || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (l *fischer) Close(context.Context) error { return nil }

type fischerLease struct {
	*fischer
	name string
}

func (l fischerLease) Release(ctx context.Context) error {
	_, err := l.port.Del(ctx, 0, l.name)
	return err
}
