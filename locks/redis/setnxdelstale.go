package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewSetNXDelStale is NewSetNXGetSetFixed with a flaw: it takes a lock that has
// ended with DEL and SETNX. Two clients may see the same end. The second one's
// DEL then removes what the first one's SETNX has set, and both hold.
//
// Source: the Redis manual's page on SETNX, "Handling deadlocks", which tells it
// of the clients C1, C2 and C3.
func NewSetNXDelStale(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &stamped{newLocker(h, p, o), delStale, dropUnlessEnded}
}

func delStale(ctx context.Context, l *stamped, name string) (stamp, bool, error) {
	if _, err := l.port.Del(ctx, l.Timeout, name); err != nil {
		return stamp{}, false, err
	}
	own := l.stamp()
	ok, err := l.port.SetNX(ctx, l.Timeout, name, own.String())
	if !ok {
		return stamp{}, false, err // nothing of ours is there
	}
	return own, true, err
}
