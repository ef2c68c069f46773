// Package lockcheck tests a distributed lock that is written in Go: many runs under
// faults, in virtual time, with the lock's own code and its own client library.
//
//	func TestOrderLock(t *testing.T) {
//		lockcheck.Test(t, lockcheck.Redis(1), newOrderLock, lockcheck.Promise("ownership", "liveness"))
//	}
//
// In each run several clients take the lock, read and write what it guards, and release
// it, while one kind of fault strikes. Each run has a seed and repeats. The judge reads
// what every client and server saw, and a violation is explained as a story.
//
// docs/go-test.md is a tutorial. The command lockcheck judges histories, and tests locks
// in other languages.
package lockcheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
	"unsafe"

	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// Lock is one client's handle on a lock. Only Acquire is required.
type Lock struct {
	// Acquire takes the named lock. It waits until ctx ends, or returns an error for which
	// Refused returns true; then it is called again after a while.
	Acquire func(ctx context.Context, name string) (Grant, error)
	// Try is Acquire without a wait: an error for which Refused returns true is its no.
	Try func(ctx context.Context, name string) (Grant, error)
	// Close ends the client's connections at the end of a run.
	Close func() error
	// Refused reports whether an error of Acquire says for certain that somebody else
	// holds the lock. NotHeld reports whether an error of Release says for certain that
	// the client does not hold it. All other errors are uncertain: the lock may have been
	// taken, or released.
	Refused, NotHeld func(err error) bool
}

// Grant is what Acquire got. Only Release is required.
type Grant struct {
	Release func(ctx context.Context) error
	// Extend makes the lease as long as a new one from now on, and returns its end as
	// Until is meant.
	Extend func(ctx context.Context) (until time.Time, err error)
	// Token is the fencing token, which grows with every grant; 0: none.
	Token uint64
	// Until is the time up to which the holder believes in the grant. Zero: for as long
	// as its entry in the store lives, counted from the request that made it; on docker,
	// where entries are not looked into, it is then unknown.
	Until time.Time
	// Lost is closed when the lock finds out that the grant is lost; nil: it never does.
	Lost <-chan struct{}
}

// Env is what one client has: its way to the servers, and the length of its leases.
type Env struct {
	site userlock.Site
	rand *rand.Rand
}

// Client returns the client's name, such as c1.
func (e *Env) Client() string { return e.site.Client() }

// Lease returns T, the length of a lease or of a session.
func (e *Env) Lease() time.Duration { return e.site.Lease() }

// Addr returns the address of server i, from 0.
func (e *Env) Addr(i int) string { return e.site.Addrs()[i] }

// Addrs returns the addresses of all servers that keep locks.
func (e *Env) Addrs() []string { return e.site.Addrs() }

// DSN returns the data source name of the MySQL server for go-sql-driver/mysql: user and
// database lockcheck, no password.
func (e *Env) DSN() string { return "lockcheck@tcp(" + e.Addr(0) + ")/lockcheck" }

// Sentinels returns the addresses of the Sentinels. The name of their master is
// redis-1.
func (e *Env) Sentinels() []string { return e.site.Sentinels() }

// DialContext connects to a server. It is the Dialer of go-redis.
func (e *Env) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.site.DialContext(ctx, network, addr)
}

// DialTimeout connects to a server within a time. It is the Dialer of go-zookeeper.
func (e *Env) DialTimeout(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return e.DialContext(ctx, network, addr)
}

// Rand returns the client's source of random numbers. Those of math/rand and crypto/rand
// repeat with the seed, too; those of math/rand/v2 do not.
func (e *Env) Rand() *rand.Rand { return e.rand }

// ownLock is a Lock as environments see it.
type ownLock struct {
	Lock
	env *Env
}

func newOwnLock(e *Env, l Lock) (userlock.Lock, error) {
	if l.Acquire == nil {
		return nil, &userlock.Misuse{Words: "the factory returned a Lock without Acquire"}
	}
	return &ownLock{l, e}, nil
}

// CanTry implements userlock.Lock.
func (l *ownLock) CanTry() bool { return l.Lock.Try != nil }

// Try implements userlock.Lock.
func (l *ownLock) Try(ctx context.Context, name string) (userlock.Grant, error) {
	g, err := l.ask(ctx, name, "Try", l.Lock.Try)
	if err != nil && said(l.Refused, err) {
		err = fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	}
	return g, err
}

// ask asks once.
func (l *ownLock) ask(ctx context.Context, name, what string, do func(context.Context, string) (Grant, error)) (userlock.Grant, error) {
	g, err := do(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case g.Release == nil:
		return nil, &userlock.Misuse{Words: what + " returned a Grant without Release"}
	}
	return &ownGrant{g, l}, nil
}

// Acquire asks until the lock is granted, or its context ends.
func (l *ownLock) Acquire(ctx context.Context, name string) (userlock.Grant, error) {
	for {
		g, err := l.ask(ctx, name, "Acquire", l.Lock.Acquire)
		if err == nil || !said(l.Refused, err) {
			return g, err
		}
		pause := l.env.Lease()/50 + time.Duration(l.env.rand.Int64N(int64(l.env.Lease()/50)))
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
		case <-time.After(pause):
		}
	}
}

// said reports whether f says that err is certain.
func said(f func(error) bool, err error) bool { return f != nil && f(err) }

// Close implements userlock.Lock.
func (l *ownLock) Close() error {
	if l.Lock.Close == nil {
		return nil
	}
	return l.Lock.Close()
}

// Identity implements userlock.Lock. Two values of one function are the same closure.
func (l *ownLock) Identity() any { return *(*unsafe.Pointer)(unsafe.Pointer(&l.Lock.Acquire)) }

// ownGrant is a Grant as environments see it.
type ownGrant struct {
	Grant
	lock *ownLock
}

func (g *ownGrant) Release(ctx context.Context) error { return g.notHeld(g.Grant.Release(ctx)) }

func (g *ownGrant) CanExtend() bool { return g.Grant.Extend != nil }

func (g *ownGrant) Extend(ctx context.Context) error {
	until, err := g.Grant.Extend(ctx)
	if err == nil {
		g.Grant.Until = until
	}
	return g.notHeld(err)
}

// notHeld marks an error that says that the client does not hold the lock.
func (g *ownGrant) notHeld(err error) error {
	if err != nil && said(g.lock.NotHeld, err) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

func (g *ownGrant) Until() time.Time      { return g.Grant.Until }
func (g *ownGrant) Token() uint64         { return g.Grant.Token }
func (g *ownGrant) Lost() <-chan struct{} { return g.Grant.Lost }

// userFactory turns a user's factory into that of the environments.
func userFactory(make func(*Env) (Lock, error)) userlock.Maker {
	return func(s userlock.Site) (userlock.Lock, error) {
		e := &Env{site: s, rand: rand.New(rand.NewPCG(s.Seed(), 0))}
		l, err := make(e)
		if err != nil {
			return nil, fmt.Errorf("the factory failed: %w", err)
		}
		return newOwnLock(e, l)
	}
}
