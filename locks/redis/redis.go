// Package redis holds the locks that live on one Redis server, and the Redlocks,
// which live on several: one file for each, which reads like the recipe that it
// implements. The flawed ones are exactly as flawed as their source.
package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL     time.Duration // the lease T
	Timeout time.Duration // of one request; 0: T/4, and T/40 to one of several nodes
	Token   bool          // draw a fencing token with each grant
	Tokens  redis.Port    // draw it from this server instead, in a request of its own; zero: there is none
	Spin    bool          // ask again at once, as the source of redis-set-lua does, instead of after a random wait
	ReuseID bool          // one value for all acquisitions of a client, as a caller's request id may be
	Claim   bool          // an acquire that finds its own value has acquired
	Cap     bool          // a watchdog stops renewing 1.5 T after the grant
	ZeroTTL bool          // ask for a lease of 0, which go-redis takes for a key that never expires
	Once    bool          // nothing renews a lock that its caller has asked for once

	FixedWait       bool // ask again after T/50, always
	ExponentialWait bool // ask again after a random wait that doubles from T/1000 to T/10
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

// counter is the key that a script draws tokens from with the grant.
func (l *locker) counter(name string) string {
	if !l.Token {
		return ""
	}
	return counterOf(name)
}

// counterOf is the key that counts the grants of a lock. The braces keep it in
// the slot of the lock's key on a Redis Cluster.
func counterOf(name string) string { return "{" + name + "}:token" }

// mark is the head of a loop of tries: see wait for pause.
func (l *locker) mark(pause time.Duration) {
	if pause == 0 {
		l.host.Mark("try") // which costs no memory
		return
	}
	l.host.Mark("try", int64(pause))
}

// wait comes between two tries. last is what it returned before, 0 at first:
// with ExponentialWait how long the wait may last, else always 0. Its error
// means that ctx has ended, with every request answered and nothing of ours in
// the store.
func (l *locker) wait(ctx context.Context, last time.Duration) (time.Duration, error) {
	shortest, spread := l.TTL/100, 3*l.TTL/100
	switch {
	case l.Spin:
		shortest, spread = 0, 0
	case l.FixedWait:
		shortest, spread = l.TTL/50, 0
	case l.ExponentialWait:
		last = min(max(2*last, l.TTL/1000), l.TTL/10)
		shortest, spread = last/2, last/2
	}
	if l.host.Backoff(ctx, shortest, spread) != nil {
		return 0, locks.ErrNotAcquired
	}
	return last, nil
}

// setNX is SET NX PX, with a token or a claim where the options ask for one.
func (l *locker) setNX(ctx context.Context, name, value string) (token uint64, ok bool, err error) {
	ttl := l.TTL
	if l.ZeroTTL {
		ttl = 0
	}
	switch {
	case l.Claim:
		token, err = l.port.Claim(ctx, l.Timeout, name, value, l.counter(name), ttl)
	case l.Token:
		token, err = l.port.Grant(ctx, l.Timeout, name, value, l.counter(name), ttl)
	default:
		ok, err = l.port.SetIfAbsent(ctx, l.Timeout, name, value, ttl)
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
	task        locks.Task // which renews it, where one does
}

func (l *lease) Token() uint64                     { return l.token }
func (l *lease) Until() time.Duration              { return l.until }
func (l *lease) Release(ctx context.Context) error { return l.release(ctx, l) }

// granted is a new lease, once it has its token.
func (l *locker) granted(ctx context.Context, g lease) (locks.Lease, error) {
	if err := l.fence(ctx, &g); err != nil {
		return nil, err
	}
	return l.keep(g), nil
}

// keep makes room for many leases: simulated clients take thousands a second.
func (l *locker) keep(g lease) *lease {
	if len(l.leases) == cap(l.leases) {
		l.leases = make([]lease, 0, 32)
	}
	l.leases = append(l.leases, g)
	return &l.leases[len(l.leases)-1]
}

// fence gives g its token, where that has to come from a server of its own.
// Without it nothing is granted.
func (l *locker) fence(ctx context.Context, g *lease) error {
	if err := l.draw(ctx, g); err != nil {
		return undone(err, l.giveBack(g))
	}
	return nil
}

// draw asks the server that tokens come from, where the options name one.
func (o *Options) draw(ctx context.Context, g *lease) error {
	if o.Tokens.Transport == nil {
		return nil
	}
	token, err := o.Tokens.Incr(ctx, o.Timeout, counterOf(g.name))
	if err != nil {
		return fmt.Errorf("no token: %w", err)
	}
	g.token = uint64(token)
	return nil
}

// giveBack deletes the key of a grant that an acquire does not use. Without an
// error nothing of it is left.
func (l *locker) giveBack(g *lease) error {
	_, err := l.port.CompareAndDelete(l.host.Life(), l.Timeout, g.name, g.value)
	return err
}

// undone is the error of an acquire that has tried to undo what it did: left
// says why something of it may still be there.
func undone(err, left error) error {
	if left != nil {
		return fmt.Errorf("%v; what was granted may still be there: %v", err, left)
	}
	return locks.Definite(err)
}

// held turns what a release found into its error.
func held(ok bool, err error) error {
	if err == nil && !ok {
		return locks.ErrNotHeld
	}
	return err
}
