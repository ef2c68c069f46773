package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// Own returns the Factory of a lock that a user brings in Go. It uses its own client
// library, so its requests have no points, and its clocks are those of this machine.
func Own(make userlock.Maker) Factory {
	return func(s Setup) (locks.Locker, func() error, error) {
		where := newSite(s)
		l := &ownLocker{host: s.Host.(host), lease: where.lease}
		err := userlock.Guard("the factory", func() (err error) {
			l.own, err = make(where)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		return l, l.own.Close, nil
	}
}

// site is the userlock.Site of a client.
type site struct {
	client           string
	lease            time.Duration
	addrs, sentinels []string
	servers          []string // all of them
}

// newSite returns the way of a client to the servers among the targets.
func newSite(s Setup) *site {
	t := s.Init.Targets
	x := &site{client: s.Client, lease: time.Duration(s.Init.TTLMS) * time.Millisecond, sentinels: t[TargetSentinels]}
	for _, kind := range []string{TargetRedis, TargetZooKeeper, TargetMySQL} {
		x.addrs = append(x.addrs, t[kind]...)
	}
	x.servers = slices.Concat(x.addrs, x.sentinels)
	if masters := len(t[TargetMasters]); masters > 0 {
		all := x.addrs
		x.addrs = nil
		for i := 0; i < len(all); i += max(1, len(all)/masters) { // each master precedes its replicas
			x.addrs = append(x.addrs, all[i])
		}
	}
	return x
}

// Client implements userlock.Site, and so do the others.
func (x *site) Client() string       { return x.client }
func (x *site) Lease() time.Duration { return x.lease }
func (x *site) Addrs() []string      { return x.addrs }
func (x *site) Sentinels() []string  { return x.sentinels }
func (x *site) Seed() uint64         { return rand.Uint64() } // runs on real servers do not repeat

// DialContext connects to a server among the targets.
func (x *site) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if !slices.Contains(x.servers, addr) {
		return nil, fmt.Errorf("lockcheck: no server listens on %s: the servers are at %v", addr, x.addrs)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

// ownLocker is the locks.Locker of a user's lock. The client's other tasks run while the
// user's code does: that waits where it likes.
type ownLocker struct {
	host
	own   userlock.Lock
	lease time.Duration // T
}

// call calls the user's code.
func (l *ownLocker) call(what string, f func() error) (err error) {
	l.away(func() { err = userlock.Guard(what, f) })
	return err
}

// Acquire implements locks.Locker.
func (l *ownLocker) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.ask(ctx, name, "Acquire", l.own.Acquire)
}

// CanTry implements locks.TryLocker.
func (l *ownLocker) CanTry() bool { return l.own.CanTry() }

// TryAcquire implements locks.TryLocker.
func (l *ownLocker) TryAcquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.ask(ctx, name, "Try", l.own.Try)
}

func (l *ownLocker) ask(ctx context.Context, name, what string, do func(context.Context, string) (userlock.Grant, error)) (locks.Lease, error) {
	var g userlock.Grant
	err := l.call(what, func() (err error) {
		g, err = do(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	x := &ownLease{grant: g, locker: l, released: make(chan struct{})}
	x.watch()
	return x, nil
}

// Close implements locks.Locker. The user's lock ends with the worker.
func (l *ownLocker) Close(context.Context) error { return nil }

// ownLease is a grant of a user's lock.
type ownLease struct {
	grant    userlock.Grant
	locker   *ownLocker
	released chan struct{} // closed when its release begins
	once     sync.Once
}

// watch reports the loss of the grant when the user's code learns of it.
func (x *ownLease) watch() {
	lost := x.grant.Lost()
	if lost == nil {
		return
	}
	x.locker.Go(func(ctx context.Context) {
		known := false
		x.locker.away(func() {
			select {
			case <-lost:
				known = true
			case <-x.released:
			case <-ctx.Done():
			}
		})
		if known {
			x.locker.Report(locks.News{})
		}
	})
}

// Token implements locks.Fencer.
func (x *ownLease) Token() uint64 { return x.grant.Token() }

// Until implements locks.Deadliner.
func (x *ownLease) Until() time.Duration {
	t := x.grant.Until()
	if t.IsZero() {
		return 0
	}
	return max(x.locker.Mono()+time.Until(t), 1)
}

// CanExtend implements locks.Extender.
func (x *ownLease) CanExtend() bool { return x.grant.CanExtend() }

// Extend implements locks.Extender.
func (x *ownLease) Extend(ctx context.Context) error { return x.call(ctx, "Extend", x.grant.Extend) }

// Release implements locks.Lease.
func (x *ownLease) Release(ctx context.Context) error {
	x.once.Do(func() { close(x.released) })
	return x.call(ctx, "Release", x.grant.Release)
}

// call calls a function of the grant, whose context ends as long as the harness waits.
func (x *ownLease) call(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*x.locker.lease)
	defer cancel()
	return x.locker.call(what, func() error { return f(ctx) })
}

var (
	_ locks.TryLocker = (*ownLocker)(nil)
	_ locks.Fencer    = (*ownLease)(nil)
	_ locks.Deadliner = (*ownLease)(nil)
	_ locks.Extender  = (*ownLease)(nil)
)
