package redis

import (
	"cmp"
	"context"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// redlockContinue is a redlock whose rounds also renew.
type redlockContinue struct {
	redlock
	newest string // the value that the last round wrote, whether or not it got the lock
}

// NewRedlockContinue keeps a Redlock until it is released, by taking it again
// and again: a script that deletes the key if it holds the value of the round
// before, and then sets it, with a new value, if it is not there.
//
// The article says that one call keeps the lock until its release. The code that
// it points to renews nothing: the caller has to call again in time. Option Once is
// the article's caller, who calls once and loses the lock when the lease ends.
// The task that does such a round every T/2 is ours. With it, the lock breaks
// without any fault:
//
//   - A renewal takes what is free. Nobody tells the task of a release, and the
//     round that comes after it takes the lock for nobody, renews it, and has it
//     for ever. Only a task that finds the lock taken in three rounds ends.
//   - A renewal that fails deletes what it has set, which is the lock of a client
//     that works on, and is not told. It fails for a time: the clock counts whole
//     seconds, so that a round in which one ends has taken a second, all of
//     a lease of one. Or for the value of the round before. There is one for all
//     that a client does, and each round leaves its own behind, the one that got
//     nothing, too: then no later round knows the lock as its own, nor does the
//     release, and it runs out under its holder.
//   - The same clock makes a round that was slow and within one second take no
//     time: the lease ends before its holder thinks.
//
// Sources: imcoderlemon, Three ways to lock with Redis (in Chinese), the third,
// "until released"; redlock-cpp, ContinueLock, Unlock and the example CLockExample,
// whose loop takes the lock every 10 s for 14 and never ends. It limits the time
// of no command: here that is what it is for a lock on one server, T/4.
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

// take does rounds until one gets the lock, or tries of them have not; 0: any
// number.
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
		if err := l.again(ctx, left); err != nil {
			return g, nil, err
		}
	}
}

// renew takes the lock again until three rounds have not got it, and tells
// nobody.
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
