package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewSetNXDelStale is NewSetNXGetSetFixed with a flaw: it takes an expired lock
// with DEL and SETNX. Two clients may see the same expired key. The second one's
// DEL then removes the key of the first one's SETNX, and both hold.
//
// Source: the Redis manual's page on SETNX, "Handling deadlocks", with the
// clients C1, C2 and C3.
func NewSetNXDelStale(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &timeLock{newLocker(h, p, o), delStale, dropUnlessEnded}
}

func delStale(ctx context.Context, l *timeLock, name string) (stamp, bool, error) {
	if _, err := l.port.Del(ctx, l.Timeout, name); err != nil {
		return stamp{}, false, err
	}
	own := l.stamp()
	ok, err := l.port.SetNX(ctx, l.Timeout, name, own.String())
	if !ok {
		return stamp{}, false, err // this client has set no key
	}
	return own, true, err
}
