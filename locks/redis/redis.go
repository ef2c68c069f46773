// Package redis has the locks that use one Redis server, and the Redlocks, which
// use several: one file for each, which reads like the recipe that it implements.
// The flawed ones are exactly as flawed as their source.
package redis

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL     time.Duration // the lease T
	Timeout time.Duration // of one request; 0: T/4, or T/40 for one of several nodes
	Token   bool          // draw a fencing token with each grant
	Tokens  redis.Port    // draw it from this server instead, in a request of its own; zero: none
	Spin    bool          // retry at once, as the source of redis-set-lua does, instead of after a random wait
	ReuseID bool          // one value for all acquisitions of a client, like a caller's request id
	Claim   bool          // an acquire that finds its own value has succeeded
	Cap     bool          // a watchdog stops renewing 1.5 T after the grant
	ZeroTTL bool          // request a lease of 0, which go-redis turns into a key that never expires
	Once    bool          // a lock that was acquired once is not renewed

	FixedWait       bool // retry after T/50, always
	ExponentialWait bool // retry after a random wait that doubles from T/1000 to T/10
}

// locker is the common part of the locks: a client's data and its waits.
type locker struct {
	Options
	host   locks.Host
	port   redis.Port
	id     string   // with ReuseID
	leases []lease  // preallocated
	first  [1]lease // the only lease of a client in most searches
}

func newLocker(h locks.Host, p redis.Port, o Options) locker {
	o.Timeout = cmp.Or(o.Timeout, o.TTL/4)
	l := locker{Options: o, host: h, port: p}
	if o.ReuseID {
		l.id = h.Unique()
	}
	return l
}

// Close has nothing to free.
func (l *locker) Close(context.Context) error { return nil }

// value returns the value that an acquisition writes into its key to recognise
// it.
func (l *locker) value() string {
	if l.ReuseID {
		return l.id
	}
	return l.host.Unique()
}

// counter returns the key from which a script draws tokens with the grant.
func (l *locker) counter(name string) string {
	if !l.Token {
		return ""
	}
	return counterOf(name)
}

// counterOf returns the key that counts the grants of a lock. The braces put it
// into the slot of the lock's key on a Redis Cluster.
func counterOf(name string) string { return "{" + name + "}:token" }

// mark marks the beginning of a loop of tries; for pause see wait.
func (l *locker) mark(pause time.Duration) {
	if pause == 0 {
		l.host.Mark("try") // without allocation
		return
	}
	l.host.Mark("try", int64(pause))
}

// wait waits between two tries. last is its previous result, 0 at first: with
// ExponentialWait the limit of the wait, else always 0. It returns an error if
// ctx has ended; every request then has an answer and the client has no entry in
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

// setNX is SET NX PX, with a token or a claim according to the options.
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

// lease is one grant: the value that its acquisition wrote under the lock's name.
// The locks differ in its release.
type lease struct {
	*locker
	name, value string
	token       uint64
	until       time.Duration
	release     func(context.Context, *lease) error
	task        locks.Task // renews it; nil: no renewal
}

func (l *lease) Token() uint64                     { return l.token }
func (l *lease) Until() time.Duration              { return l.until }
func (l *lease) Release(ctx context.Context) error { return l.release(ctx, l) }

// newLease returns a new lease after drawing its token.
func (l *locker) newLease(ctx context.Context, g lease) (locks.Lease, error) {
	if err := l.fence(ctx, &g); err != nil {
		return nil, err
	}
	return l.keep(g), nil
}

// keep stores leases in blocks: simulated clients take thousands a second.
func (l *locker) keep(g lease) *lease {
	switch {
	case l.leases == nil:
		l.leases = l.first[:0]
	case len(l.leases) == cap(l.leases):
		l.leases = make([]lease, 0, 32)
	}
	l.leases = append(l.leases, g)
	return &l.leases[len(l.leases)-1]
}

// fence draws the token of g if it comes from a server of its own. Without the
// token there is no grant.
func (l *locker) fence(ctx context.Context, g *lease) error {
	if err := l.draw(ctx, g); err != nil {
		return undoneErr(err, l.giveBack(g))
	}
	return nil
}

// draw draws a token from the server for tokens, if the options have one.
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

// giveBack deletes the key of a grant that an acquire does not use. If the error
// is nil the key is gone.
func (l *locker) giveBack(g *lease) error {
	_, err := l.port.CompareAndDelete(l.host.Life(), l.Timeout, g.name, g.value)
	return err
}

// undoneErr returns the error of an acquire that has tried to undo its changes. left
// is the reason why some may remain.
func undoneErr(err, left error) error {
	if left != nil {
		return fmt.Errorf("%v; the grant may still exist: %v", err, left)
	}
	return locks.Definite(err)
}

// held returns the error of a release whose key was found or not.
func held(ok bool, err error) error {
	if err == nil && !ok {
		return locks.ErrNotHeld
	}
	return err
}
