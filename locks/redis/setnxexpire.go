package redis

import (
	"context"
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setNXExpire struct{ deleter }

// NewSetNXExpire sets the expiry of SETNX's key in a second command: a client
// that dies between the two leaves a key that never expires. The release is a
// bare DEL, whoever holds the lock then.
//
// Source: the pattern that the Redis manual's page on SET, "Patterns", replaces
// by a single command.
func NewSetNXExpire(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setNXExpire{deleter{newLocker(h, p, o)}}
}

func (l *setNXExpire) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, l.setAndExpire, bareDel)
}

// setAndExpire is an attempt with SETNX and PEXPIRE.
func (l *setNXExpire) setAndExpire(ctx context.Context, name, value string) (lease, bool, error) {
	g, ok, err := l.setNXForever(ctx, name, value)
	if err != nil || !ok {
		return g, false, err
	}
	g.until = l.host.Mono() + l.TTL
	if _, err := l.port.PExpire(ctx, l.Timeout, name, l.TTL); err != nil {
		// The key is set, so the error is not definite even if PEXPIRE was never
		// sent.
		return g, false, fmt.Errorf("the key is set, without an expiry: %v", err)
	}
	return g, true, nil
}
