package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// NewWatchdogBlind is NewWatchdog with a flaw: it renews by a bare PEXPIRE,
// whoever's the key is, and believes that it holds whenever there was one. A
// holder that wakes after its lease has ended renews the lock of the next one,
// and if that one dies, for ever; its client hears that all is well, and never
// that the lock is lost.
//
// Source: what the Redis manual, "Distributed Locks with Redis", "Making the
// algorithm more reliable: Extending the lock", asks a script for.
func NewWatchdogBlind(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &watchdog{newLocker(h, p, o), renewAny}
}

func renewAny(ctx context.Context, l *lease) {
	for {
		l.host.Mark("renew")
		if l.host.Sleep(ctx, l.TTL/3) != nil {
			return
		}
		sent := l.host.Mono()
		if ok, err := l.port.PExpire(ctx, l.Timeout, l.name, l.TTL); ok && err == nil && ctx.Err() == nil {
			l.host.Report(locks.News{Until: sent + l.TTL})
		}
	}
}
