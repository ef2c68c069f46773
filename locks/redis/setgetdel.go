package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setGetDel struct{ locker }

// NewSetGetDel checks before it deletes: GET, compare, DEL. These are three
// steps. Between the second and the third the lease may end and another client
// may take the lock.
//
// Source: jiaduo, Distributed locks with Redis and with ZooKeeper (in
// Chinese), which shows the race of threads A and B before it turns to
// a script.
func NewSetGetDel(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setGetDel{newLocker(h, p, o)}
}

func (l *setGetDel) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, l.try, func(ctx context.Context, l *lease) error {
		now, ok, err := l.port.Get(ctx, l.Timeout, l.name)
		if err != nil {
			return err
		}
		if !ok || now != l.value {
			return locks.ErrNotHeld
		}
		return held(l.port.Del(ctx, l.Timeout, l.name))
	})
}
