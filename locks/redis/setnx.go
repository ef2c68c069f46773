package redis

import (
	"context"

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
	return l.acquire(ctx, name, l.setNXForever, bareDel)
}

// setNXForever is an attempt with SETNX, with a token if the options say so.
func (l *locker) setNXForever(ctx context.Context, name, value string) (g lease, ok bool, err error) {
	g = lease{locker: l, name: name, value: value}
	if l.Token {
		g.token, err = l.port.Grant(ctx, l.Timeout, name, value, l.counter(name), 0)
		return g, g.token > 0, err
	}
	ok, err = l.port.SetNX(ctx, l.Timeout, name, value)
	return g, ok, err
}
