package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type fairFixed struct {
	locker
	held []*fairLease // grants that are not released
}

// NewFairFixed is the idea of NewFair, implemented correctly. The row has an
// owner besides the queue, and both hold strings that are unique to an
// acquisition. Only the server's clock decides what has expired. Each grant and
// each change of the queue increments the row's version, if it is still the one
// that was read. The row is never deleted, so versions never restart, and a
// grant's version is its fencing token. After a statement without an answer the
// row is read again, which shows the outcome.
//
// It grants in the order of the queue. An entry lasts for T/3 unless its waiter
// renews it, so a dead waiter delays others only briefly. A waiter that was away
// for longer keeps its place if no other has passed it; otherwise it queues
// again. A client that gives up removes its entries. The lease begins with the
// grant, however long the lock was free.
//
// It promises exclusion for the length of a lease. After that the resource is
// safe only with fencing tokens. A client that holds the lock cannot acquire it a
// second time.
//
// Sources: Bailongma, How to build a fair distributed lock with MySQL (in
// Chinese), for the idea; the Redis manual, "Distributed Locks with Redis", for
// the owner; M. Kleppmann, How to do distributed locking, for the token.
func NewFairFixed(h locks.Host, p mysql.Port, o Options) locks.Locker {
	o.Timeout = cmp.Or(o.Timeout, o.TTL/10)
	return &fairFixed{locker: newLocker(h, p, o)}
}

// ErrHeld: the client holds the lock and would wait for itself.
var ErrHeld = locks.Definite(errors.New("the client holds the lock already"))

func (l *fairFixed) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	l.held = slices.DeleteFunc(l.held, func(g *fairLease) bool { return g.name == name && g.until <= l.host.Mono() })
	if l.holds(name) != nil {
		return nil, ErrHeld
	}
	a := &application{fairFixed: l, name: name, id: l.host.Unique()}
	for {
		l.host.Mark("try", a.place, a.doubt)
		g, err := a.try(ctx)
		switch {
		case g != nil:
			l.held = append(l.held, g)
			return g, nil
		case errors.Is(err, mysql.TooLong):
			return nil, a.withdraw(ctx, err)
		case ctx.Err() != nil || l.backoff(ctx) != nil:
			return nil, a.withdraw(ctx, locks.ErrNotAcquired)
		}
	}
}

// holds returns the last grant of name that is not released, or nil. It forgets
// grants whose lease is over, because callers may abandon them.
func (l *fairFixed) holds(name string) *fairLease {
	for _, g := range slices.Backward(l.held) {
		if g.name == name {
			return g
		}
	}
	return nil
}

// ReleaseName releases the client's grant of that name.
func (l *fairFixed) ReleaseName(ctx context.Context, name string) error {
	if g := l.holds(name); g != nil {
		return g.Release(ctx)
	}
	return locks.ErrNotHeld
}

// fairLease is a grant: the row's owner.
type fairLease struct {
	*application
	token int64
	until time.Duration
}

func (g *fairLease) Until() time.Duration { return g.until }

// Token returns the version of the grant, or 0 without the option.
func (g *fairLease) Token() uint64 {
	if !g.Options.Token {
		return 0
	}
	return uint64(g.token)
}

// Release is one statement that can affect only the owner. So it may be repeated
// until there is an answer, or until the lease is over anyway. It need not
// increment the version: others that have read the row before either change the
// queue, which leaves the owner unchanged, or take an expired lock. ErrNotHeld:
// the lease was over, and another client has the lock.
func (g *fairLease) Release(ctx context.Context) error {
	g.held = slices.DeleteFunc(g.held, func(other *fairLease) bool { return other == g })
	for tried := false; ; {
		g.host.Mark("release")
		n, err := g.port.Update(ctx, g.Timeout, mysql.Change{
			Set:   mysql.Owner | mysql.Expires,
			Where: mysql.Resource | mysql.Owner, Match: mysql.Row{Resource: g.name, Owner: mysql.Some(g.id)},
			Means: mysql.Frees,
		})
		switch {
		case err == nil && n == 0 && !tried:
			return locks.ErrNotHeld
		case err == nil:
			return nil
		}
		tried = tried || !locks.IsDefinite(err)
		if g.host.Mono() >= g.until || g.backoff(ctx) != nil {
			return fmt.Errorf("the lock may be held until its lease ends: %v", err)
		}
	}
}
