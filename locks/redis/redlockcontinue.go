package redis

import (
	"cmp"
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// redlockContinue is a redlock whose rounds also renew the lock.
type redlockContinue struct {
	*redlock
	newest string // the value of the last round, successful or not
}

// NewRedlockContinue keeps a Redlock until its release by taking it repeatedly. A
// script deletes the key if it has the value of the previous round, and then sets
// it with a new value if it is missing.
//
// The article says that one call keeps the lock until its release. The code that
// it links renews nothing: the caller must call again in time. Option Once is the
// article's caller, who calls once and loses the lock at the end of the lease.
// The task that does such a round every T/2 is ours. With it the lock breaks
// without any fault:
//
//   - A renewal takes a free lock. The task is not notified of a release, so its next
//     round takes the lock without a holder, and keeps it for ever. The task ends only
//     after three rounds in which it finds the lock taken.
//   - A renewal that fails deletes its keys. That is the lock of a client that goes on
//     working and is not notified. One reason for a failure is time: the clock counts
//     whole seconds, so a round during which a second ends seems to take one second,
//     which is all of a lease of one second. Another reason is the value of the previous
//     round. A client has only one for all its rounds, and each round replaces it, even
//     if it fails. Then neither a later round nor the release recognises the lock, and
//     it expires during the hold.
//   - The same clock makes a slow round within one second take no time: the lease ends
//     before its holder expects it.
//
// Sources: imcoderlemon, Three ways to lock with Redis (in Chinese), the third,
// "until released"; redlock-cpp, ContinueLock, Unlock and the example
// CLockExample, whose loop takes the lock every 10 s for 14 s and never ends. It
// has no timeout for commands: here it is that of a lock on one server, T/4.
func NewRedlockContinue(h locks.Host, nodes []redis.Port, o Options) locks.Locker {
	o.Timeout = cmp.Or(o.Timeout, o.TTL/4)
	return &redlockContinue{redlock: newRedlock(h, nodes, o, recipe{clock: wallSeconds, drift: hundredth, quorum: majority})}
}

func (l *redlockContinue) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	g, votes, err := l.take(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	g.release = func(ctx context.Context, g *lease) error { return l.drop(ctx, g.name, l.newest, nil) }
	if err := l.fence(ctx, &g, votes); err != nil {
		return nil, err
	}
	own := l.keep(g)
	if l.Once {
		return own, nil
	}
	own.task = l.host.Go(func(ctx context.Context) { l.renew(ctx, own) })
	return own, nil
}

// take does rounds until one gets the lock or that many tries have failed; 0: no
// limit.
func (l *redlockContinue) take(ctx context.Context, name string, tries int) (g lease, votes []vote, err error) {
	value := l.host.Unique()
	var left error
	for {
		l.host.Mark("round", flag(left), int64(tries))
		until, votes := l.round(func(node int) (bool, error) {
			return l.nodes[node].Replace(ctx, l.Timeout, name, l.newest, value, l.TTL)
		})
		l.newest = value
		if until > 0 {
			return lease{locker: &l.locker, name: name, value: value, until: until}, votes, nil
		}
		if err := l.undo(name, value, votes); err != nil {
			left = err
		}
		if tries == 1 {
			return g, nil, cmp.Or(left, locks.ErrNotAcquired)
		}
		tries = max(0, tries-1)
		if err := l.waitForRound(ctx, left); err != nil {
			return g, nil, err
		}
	}
}

// renew takes the lock again until three rounds have failed. It does not report
// that.
func (l *redlockContinue) renew(ctx context.Context, own *lease) {
	for {
		l.host.Mark("renew")
		if l.host.Sleep(ctx, l.TTL/2) != nil {
			return
		}
		g, _, err := l.take(ctx, own.name, 3)
		if err != nil {
			return
		}
		own.until = g.until
		l.host.Report(locks.News{Until: g.until})
	}
}
