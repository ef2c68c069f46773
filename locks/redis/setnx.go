package redis

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setNX struct{ deleter }

// NewSetNX is the naive lock: SETNX to acquire, DEL to release, and no expiry. It
// excludes others as long as the server keeps the key. A holder that dies keeps
// the lock for ever.
//
// Source: the Redis manual's page on SETNX, "Handling deadlocks".
func NewSetNX(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setNX{deleter{newLocker(h, p, o)}}
}

func (l *setNX) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	value, pause := l.value(), time.Duration(0)
	for {
		l.mark(pause)
		token, ok, err := l.setNXForever(ctx, name, value)
		if err != nil {
			return nil, err
		}
		if ok {
			return l.newLease(ctx, lease{locker: &l.locker, name: name, value: value, token: token, release: bareDel})
		}
		if pause, err = l.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// setNXForever is SETNX, with a token if the options say so.
func (l *locker) setNXForever(ctx context.Context, name, value string) (token uint64, ok bool, err error) {
	if l.Token {
		token, err = l.port.Grant(ctx, l.Timeout, name, value, l.counter(name), 0)
		return token, token > 0, err
	}
	ok, err = l.port.SetNX(ctx, l.Timeout, name, value)
	return 0, ok, err
}
