package redis

import (
	"context"
	"fmt"
	"time"

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
	value, pause := l.value(), time.Duration(0)
	for {
		l.mark(pause)
		token, ok, err := l.setNXForever(ctx, name, value)
		if err != nil {
			return nil, err
		}
		if ok {
			sent := l.host.Mono()
			if _, err := l.port.PExpire(ctx, l.Timeout, name, l.TTL); err != nil {
				// The key is set, so the error is not definite even if PEXPIRE
				// was never sent.
				return nil, fmt.Errorf("the key is set, without an expiry: %v", err)
			}
			return l.newLease(ctx, lease{locker: &l.locker, name: name, value: value, token: token, until: sent + l.TTL, release: bareDel})
		}
		if pause, err = l.wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}
