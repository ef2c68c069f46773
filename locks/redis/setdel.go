package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

type setDel struct{ locker }

// NewSetDel takes the lock with SET NX PX, so that the key always expires, and
// gives it back with a bare DEL: a holder whose lease has ended deletes the
// key of the next one.
//
// Source: the Redis manual, "Distributed Locks with Redis", "Correct
// Implementation with a Single Instance", which warns of it.
func NewSetDel(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setDel{newLocker(h, p, o)}
}

func (l *setDel) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, func(ctx context.Context, _ string) error {
		return held(l.port.Del(ctx, l.Timeout, name))
	})
}

// acquire is the loop around SET NX PX that three locks share; release gets
// the value that the acquisition wrote.
//
// A lease counts from the moment before the request was sent: the server
// cannot have set the key earlier.
func (l *locker) acquire(ctx context.Context, name string, release func(ctx context.Context, value string) error) (locks.Lease, error) {
	value := l.value()
	for {
		l.host.Mark("try")
		sent := l.host.Mono()
		token, ok, err := l.setNX(ctx, name, value)
		if err != nil {
			return nil, err
		}
		if ok {
			return &lease{token: token, until: sent + l.TTL, release: func(ctx context.Context) error {
				return release(ctx, value)
			}}, nil
		}
		if err := l.wait(ctx); err != nil {
			return nil, err
		}
	}
}
