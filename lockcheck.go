// Package lockcheck tests distributed locks that are written in Go. A test runs the lock's
// own code and its own client library, both unchanged, thousands of times in virtual time,
// while clients pause, servers restart and messages get lost.
//
//	func TestOrderLock(t *testing.T) {
//		lockcheck.Test(t, lockcheck.Redis(1), newOrderLock, lockcheck.Promise("ownership", "liveness"))
//	}
//
// Here newOrderLock is a function that makes the [Lock] of one client: it connects through
// the [Env] that it gets.
//
// In each run several clients take the lock, read and write what it guards, and release
// it, while one kind of fault strikes. lockcheck records what every client and server saw,
// and checks the properties that the lock promises. It explains a violation as a story. A
// seed gives the same run each time.
//
// docs/go-test.md is a tutorial. The command in cmd/lockcheck judges histories, and tests
// locks in other languages.
package lockcheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// Lock is one client's handle on a lock. Only Acquire is required.
type Lock struct {
	// Acquire takes the named lock. It may wait for the lock until ctx ends. It may also
	// return an error for which Refused returns true: then it is called again after a while.
	Acquire func(ctx context.Context, name string) (Grant, error)
	// Try takes the named lock without a wait. If another client has it, Try returns an
	// error for which Refused returns true.
	Try func(ctx context.Context, name string) (Grant, error)
	// Close closes the client's connections at the end of a run.
	Close func() error
	// Refused reports whether an error of Acquire or Try means that certainly the client did
	// not get the lock, because another client has it.
	Refused func(err error) bool
	// NotHeld reports whether an error of Release or Extend means that certainly the client
	// does not hold the lock. An error that neither function names, such as a timeout, is
	// uncertain: the operation may have had its effect.
	NotHeld func(err error) bool
}

// Grant is the result of a successful Acquire or Try. Only Release is required.
type Grant struct {
	// Release releases the lock. It must return soon after ctx ends.
	Release func(ctx context.Context) error
	// Extend prolongs the lease to a whole one from now on, and returns the new Until.
	Extend func(ctx context.Context) (until time.Time, err error)
	// Token is the fencing token, which grows with every grant; 0: none, which is smaller
	// than all. If all grants of a run without faults have one, or if the test promises
	// fencing, the resource that the lock guards refuses tokens that are smaller than the last
	// one. On real servers only the promise counts.
	Token uint64
	// Until is the time up to which the holder relies on the grant. The default is the
	// lifetime of the lock's entry in the store, from the request that made it; on docker,
	// where entries are not looked into, it is then unknown.
	Until time.Time
	// Lost is a channel that the lock closes when it notices that the grant is lost. From
	// then on the holder does not rely on it. Optional.
	Lost <-chan struct{}
}

// Env is the environment of one client: the way to the servers, and the length of leases.
type Env struct {
	site userlock.Site
	rand *rand.Rand
}

// Client returns the client's name, such as c1.
func (e *Env) Client() string { return e.site.Client() }

// Lease returns the length of a lease or of a session.
func (e *Env) Lease() time.Duration { return e.site.Lease() }

// Addr returns the address of server i, from 0. Without such a server the test fails.
func (e *Env) Addr(i int) string {
	addrs := e.site.Addrs()
	if i < 0 || i >= len(addrs) {
		panic(&userlock.Misuse{Words: fmt.Sprintf("Addr(%d): there is no such server: the test has %s, from Addr(0) on", i, names.Count(len(addrs), "server"))})
	}
	return addrs[i]
}

// Addrs returns the addresses of all servers that keep locks.
func (e *Env) Addrs() []string { return e.site.Addrs() }

// DSN returns the data source name of the MySQL server for go-sql-driver/mysql: user and
// database lockcheck, no password; with External, those of the server.
func (e *Env) DSN() string {
	if dsn := endpoints.WorkerDSN(e.Addr(0)); dsn != "" {
		return dsn
	}
	return "lockcheck@tcp(" + e.Addr(0) + ")/lockcheck"
}

// Sentinels returns the addresses of the Sentinels. The name of their master is
// redis-1; with External, yours.
func (e *Env) Sentinels() []string { return e.site.Sentinels() }

// DialContext connects to a server of the run. Use it as the Dialer of go-redis.
func (e *Env) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return e.site.DialContext(ctx, network, addr)
}

// DialTimeout connects to a server of the run. Use it with zk.WithDialer of go-zookeeper.
func (e *Env) DialTimeout(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return e.DialContext(ctx, network, addr)
}

// Rand returns the client's source of random numbers, which depends on the seed of the run.
// So do math/rand and crypto/rand. The global functions of math/rand/v2 do not.
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
