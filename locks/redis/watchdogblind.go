package redis

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// NewWatchdogBlind is NewWatchdog with a flaw: it renews with a bare PEXPIRE,
// whoever owns the key, and believes that it holds whenever the key existed. A
// holder that resumes after its lease has ended renews the next holder's lock,
// and for ever if that one dies. Its client always gets good news and never
// learns that the lock is lost.
//
// Source: the Redis manual, "Distributed Locks with Redis", "Making the algorithm
// more reliable: Extending the lock", which requires a script.
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
