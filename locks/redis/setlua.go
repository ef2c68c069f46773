package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

type setLua struct{ locker }

// NewSetLua is the lock that the Redis manual recommends for one server: SET NX
// PX with a unique value, and a script that deletes the key only if it still has
// that value. A release never affects another client. But a lease ends on time
// whether its holder knows it or not, so the resource is safe only with fencing
// tokens.
//
// Sources: the Redis manual, "Distributed Locks with Redis"; jiaduo, Distributed
// locks with Redis and with ZooKeeper, and imcoderlemon, Three ways to lock with
// Redis (both in Chinese; they spin: option Spin).
func NewSetLua(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &setLua{newLocker(h, p, o)}
}

func (l *setLua) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.acquire(ctx, name, l.try, compareAndDelete)
}

// compareAndDelete releases a lease if it still exists.
func compareAndDelete(ctx context.Context, l *lease) error {
	return held(l.port.CompareAndDelete(ctx, l.Timeout, l.name, l.value))
}
