package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewSetNXGetSetUnread is NewSetNXGetSetFixed with a flaw: it ignores the reply
// of its GETSET. Two clients may see the same expired key. Both replace it, and
// both believe that they hold the lock.
//
// Source: imcoderlemon, Three ways to lock with Redis (in Chinese), the first,
// which warns that the reply must be checked.
func NewSetNXGetSetUnread(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &timeLock{newLocker(h, p, o), getSetUnread, dropUnlessEnded}
}

func getSetUnread(ctx context.Context, l *timeLock, name string) (stamp, bool, error) {
	own := l.stamp()
	_, _, err := l.port.GetSet(ctx, l.Timeout, name, own.String())
	return own, err == nil, err
}
