package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

type fairFixed struct {
	locker
	held []*fairLease // what was not given back
}

// NewFairFixed is the idea of NewFair done right. The row has an owner beside
// the queue, and both hold strings that each acquisition has for itself. The
// server's clock alone says what is over. Whatever takes the lock or changes the
// queue raises the row's version by one, if that is still the one that was read;
// the row is never deleted, so versions never begin anew, and that of a grant is
// its fencing token. A statement without an answer is no answer: the row is read
// again, and shows what came of it.
//
// It grants in the order of the queue. A place there lasts for T/3, unless who
// waits in it renews it: so who dies in the queue holds nobody up for long. One
// who was away for longer keeps it if nobody has passed meanwhile, else queues
// up anew. Who gives up takes out what is his. The lease begins with the grant,
// however long the lock was free.
//
// It promises exclusion for the length of a lease; beyond it what the lock
// guards is safe only with fencing tokens. A client that holds the lock does not
// get it a second time.
//
// Sources: Bailongma, How to build a fair distributed lock with MySQL (in
// Chinese), for the idea; the Redis manual, "Distributed Locks with Redis", for
// the owner; M. Kleppmann, How to do distributed locking, for the token.
func NewFairFixed(h locks.Host, p mysql.Port, o Options) locks.Locker {
	if o.Timeout == 0 {
		o.Timeout = o.TTL / 10
	}
	return &fairFixed{locker: newLocker(h, p, o)}
}

// ErrHeld: the client holds the lock, and would wait for itself.
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

// holds is the last grant of name that was not given back, or nil. Those that were
// over when name was asked for again are forgotten: callers may abandon grants.
func (l *fairFixed) holds(name string) *fairLease {
	for _, g := range slices.Backward(l.held) {
		if g.name == name {
			return g
		}
	}
	return nil
}

// ReleaseName releases what the client holds under that name.
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

// Token is the version that the grant has made; 0: none was asked for.
func (g *fairLease) Token() uint64 {
	if !g.Options.Token {
		return 0
	}
	return uint64(g.token)
}

// Release is one statement, of which nobody but the owner can be struck: so it
// may be sent again until there is an answer, or the lease is over anyway. It
// need not raise the version: what others write after having read the row before
// is a queue, which leaves the owner as it is, or a grant of what is over.
// ErrNotHeld: the lease was over, and the lock is another's.
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
