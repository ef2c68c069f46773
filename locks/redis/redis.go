// Package redis holds the locks that live on one Redis server: one file for
// each, which reads like the recipe that it implements. The flawed ones are
// exactly as flawed as their source.
package redis

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL     time.Duration // the lease T
	Timeout time.Duration // of one request; 0: T/4
	Token   bool          // draw a fencing token with each grant
	Spin    bool          // ask again at once, as the source of redis-set-lua does, instead of after a random wait
	ReuseID bool          // one value for all acquisitions of a client, as a caller's request id may be
	Claim   bool          // an acquire that finds its own value has acquired
}

// locker is what the locks share: a client's end, and how it waits.
type locker struct {
	Options
	host   locks.Host
	port   redis.Port
	id     string  // with ReuseID
	leases []lease // room for the next ones
}

func newLocker(h locks.Host, p redis.Port, o Options) locker {
	if o.Timeout == 0 {
		o.Timeout = o.TTL / 4
	}
	l := locker{Options: o, host: h, port: p}
	if o.ReuseID {
		l.id = h.Unique()
	}
	return l
}

// Close has nothing to let go of.
func (l *locker) Close(context.Context) error { return nil }

// value is what an acquisition writes into its key, to know it again.
func (l *locker) value() string {
	if l.ReuseID {
		return l.id
	}
	return l.host.Unique()
}

// counter is the key that tokens are drawn from. The braces keep it in the
// slot of the lock's key on a Redis Cluster.
func (l *locker) counter(name string) string {
	if !l.Token {
		return ""
	}
	return "{" + name + "}:token"
}

// wait comes between two tries. Its error means that ctx has ended, with every
// request answered and nothing of ours in the store.
func (l *locker) wait(ctx context.Context) error {
	shortest, spread := l.TTL/100, 3*l.TTL/100
	if l.Spin {
		shortest, spread = 0, 0
	}
	if l.host.Backoff(ctx, shortest, spread) != nil {
		return locks.ErrNotAcquired
	}
	return nil
}

// setNX is SET NX PX, with a token or a claim where the options ask for one.
func (l *locker) setNX(ctx context.Context, name, value string) (token uint64, ok bool, err error) {
	switch {
	case l.Claim:
		token, err = l.port.Claim(ctx, l.Timeout, name, value, l.counter(name), l.TTL)
	case l.Token:
		token, err = l.port.Grant(ctx, l.Timeout, name, value, l.counter(name), l.TTL)
	default:
		ok, err = l.port.SetIfAbsent(ctx, l.Timeout, name, value, l.TTL)
		return 0, ok, err
	}
	ok = token > 0
	if !l.Token {
		token = 0
	}
	return token, ok, err
}

// lease is one grant: the value that its acquisition wrote under the lock's
// name. How it is given back is what the locks differ in.
type lease struct {
	*locker
	name, value string
	token       uint64
	until       time.Duration
	release     func(context.Context, *lease) error
}

func (l *lease) Token() uint64                     { return l.token }
func (l *lease) Until() time.Duration              { return l.until }
func (l *lease) Release(ctx context.Context) error { return l.release(ctx, l) }

// granted is a new lease. Room is made for many: simulated clients take
// thousands of leases a second.
func (l *locker) granted(g lease) *lease {
	if len(l.leases) == cap(l.leases) {
		l.leases = make([]lease, 0, 32)
	}
	l.leases = append(l.leases, g)
	return &l.leases[len(l.leases)-1]
}

// held turns what a release found into its error.
func held(ok bool, err error) error {
	if err == nil && !ok {
		return locks.ErrNotHeld
	}
	return err
}
