package redis

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setDel struct{ deleter }

// NewSetDel takes the lock with SET NX PX, so that the key always expires, and
// releases it with a bare DEL: a holder whose lease has ended deletes the next
// holder's key.
//
// Source: the Redis manual, "Distributed Locks with Redis", "Correct
// Implementation with a Single Instance", which warns of it.
func NewSetDel(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setDel{deleter{newLocker(h, p, o)}}
}

func (l *setDel) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, l.try, bareDel)
}

// deleter is a locker that releases with a bare DEL, which needs no lease.
type deleter struct{ locker }

// ReleaseName deletes the key, whoever owns it.
func (l *deleter) ReleaseName(ctx context.Context, name string) error {
	return held(l.port.Del(ctx, l.Timeout, name))
}

// bareDel releases a lease without checking the owner of the key.
func bareDel(ctx context.Context, l *lease) error {
	return held(l.port.Del(ctx, l.Timeout, l.name))
}

// attempt requests the key once.
type attempt func(ctx context.Context, name, value string) (g lease, ok bool, err error)

// acquire is the loop that most locks share: it repeats an attempt until that has the key.
func (l *locker) acquire(ctx context.Context, name string, attempt attempt, release func(context.Context, *lease) error) (locks.Lease, error) {
	value, pause := l.value(), time.Duration(0)
	for {
		l.mark(pause)
		g, ok, err := attempt(ctx, name, value)
		if ok && err == nil {
			g.release = release
			return l.newLease(ctx, g)
		}
		if err == nil {
			pause, err = l.wait(ctx, pause)
		}
		if err != nil {
			return nil, err
		}
	}
}

// try is an attempt with SET NX PX.
//
// A lease counts from the moment before the request was sent: the server cannot
// have set the key earlier. The lease of a key that never expires has no end.
func (l *locker) try(ctx context.Context, name, value string) (g lease, ok bool, err error) {
	until := l.host.Mono() + l.TTL
	if l.ZeroTTL {
		until = 0
	}
	token, ok, err := l.setNX(ctx, name, value)
	return lease{locker: l, name: name, value: value, token: token, until: until}, ok, err
}
