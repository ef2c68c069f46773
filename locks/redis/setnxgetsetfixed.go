package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewSetNXGetSetFixed is NewSetNXGetSet with the manual's release: GET, and DEL
// if the time in the key has not passed. It does not check the owner: a late
// holder finds the next holder's time, which has not passed, and deletes the key.
// The clients' wall clocks still decide who holds.
//
// Source: the Redis manual's page on SETNX, "Handling deadlocks".
func NewSetNXGetSetFixed(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &timeLock{newLocker(h, p, o), getSet, dropUnlessEnded}
}

// dropUnlessEnded deletes a key whose time has not passed.
func dropUnlessEnded(ctx context.Context, l *lease) error {
	now, ok, err := l.port.Get(ctx, l.Timeout, l.name)
	switch {
	case err != nil:
		return err
	case !ok || l.hasEnded(now):
		return locks.ErrNotHeld
	}
	return held(l.port.Del(ctx, l.Timeout, l.name))
}
