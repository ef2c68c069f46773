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
	return l.acquire(ctx, name, bareDel)
}

// bareDel gives a lease back without a look at whose the key is by now.
func bareDel(ctx context.Context, l *lease) error {
	return held(l.port.Del(ctx, l.Timeout, l.name))
}

// acquire is the loop around SET NX PX that three locks share.
//
// A lease counts from the moment before the request was sent: the server
// cannot have set the key earlier.
func (l *locker) acquire(ctx context.Context, name string, release func(context.Context, *lease) error) (locks.Lease, error) {
	value := l.value()
	for {
		l.host.Mark("try")
		sent := l.host.Mono()
		token, ok, err := l.setNX(ctx, name, value)
		if err != nil {
			return nil, err
		}
		if ok {
			return l.granted(lease{l, name, value, token, sent + l.TTL, release}), nil
		}
		if err := l.wait(ctx); err != nil {
			return nil, err
		}
	}
}
