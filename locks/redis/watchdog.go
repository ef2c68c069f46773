package redis

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// watchdog is a lock with a task that renews it.
type watchdog struct {
	locker
	renew func(context.Context, *lease)
}

// NewWatchdog is NewSetLua with leases that are renewed during the hold: a task
// renews them every T/3, with a script that sets the expiry only if the key is
// still its own. So work may take longer than a lease. It is no safer than a
// lease: a client that is paused for T has lost the lock, and learns it when it
// resumes. And a holder that hangs keeps the lock for ever, because its task does
// not hang; option Cap limits that.
//
// Sources: Redisson's RLock, "lock watchdog"; the Redis manual, "Distributed
// Locks with Redis", "Making the algorithm more reliable: Extending the lock",
// which also asks for a limit of renewals.
func NewWatchdog(h locks.Host, p redis.Port, o Options) locks.Locker {
	return &watchdog{newLocker(h, p, o), renewOwn}
}

// Acquire starts the task after everything else.
func (l *watchdog) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	g, err := l.acquire(ctx, name, l.try, stopAndDelete)
	if err != nil {
		return nil, err
	}
	own := g.(*lease)
	own.task = l.host.Go(func(ctx context.Context) { l.renew(ctx, own) })
	return own, nil
}

// stopAndDelete first waits for the task: a renewal under way must not come after
// the release.
func stopAndDelete(ctx context.Context, l *lease) error {
	l.task.Stop()
	l.task.Wait()
	return compareAndDelete(ctx, l)
}

// renewOwn renews l while the key is the client's. It repeats a request without
// an answer soon. If the lease expires without an answer, or the answer is no,
// the lock is lost and the client is notified.
func renewOwn(ctx context.Context, l *lease) {
	pause, last := l.TTL/3, l.until+l.TTL/2 // 1.5 T after the grant
	for {
		now, spare := l.host.Mono(), time.Duration(0)
		if l.Cap {
			spare = last - now
		}
		l.host.Mark("renew", int64(pause), int64(l.until-now), int64(spare))
		if l.host.Sleep(ctx, min(pause, l.until-now)) != nil {
			return
		}
		sent := l.host.Mono()
		switch {
		case sent >= l.until:
			l.host.Report(locks.News{})
			return
		case l.Cap && sent >= last:
			pause = l.TTL // to the lease's end
			continue
		}
		ok, err := l.port.Extend(ctx, min(l.Timeout, l.until-sent), l.name, l.value, l.TTL)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			pause = l.TTL / 50
		case !ok:
			l.host.Report(locks.News{})
			return
		default:
			pause, l.until = l.TTL/3, sent+l.TTL
			l.host.Report(locks.News{Until: l.until})
		}
	}
}
