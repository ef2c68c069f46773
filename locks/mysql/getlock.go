package mysql

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type getLock struct{ locker }

// NewGetLock takes a named lock of the server, on a connection that is kept for
// the whole hold. The lock belongs to the session: it has no expiry and is
// released when the session ends. In case of doubt the client closes the
// connection to release it. The holder is not notified: after a lost connection
// or a server restart it has lost the lock and does not know. A session whose
// client has vanished silently lasts for hours. With option WaitTimeout it lasts
// for T, and a heartbeat every T/3 detects its end.
//
// Sources: the MySQL manual, "Locking Functions"; for the option the same,
// wait_timeout.
func NewGetLock(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &getLock{newLocker(h, p, o)}
}

// Acquire asks with short waits, so that it notices the end of ctx.
func (l *getLock) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	s, err := l.open(ctx)
	for err == nil {
		l.host.Mark("try", s.ID())
		wait, ok := l.share(ctx, l.TTL/8), false
		ok, err = s.GetLock(ctx, wait+l.TTL/8, name, wait)
		switch {
		case errors.Is(err, mysql.ErrSessionOver): // it had ended in the pool
			s.Close()
			s, err = l.open(ctx)
		case err == nil && ok:
			return l.newLease(ctx, s, name)
		case err == nil && ctx.Err() != nil, locks.IsDefinite(err):
			s.Return()
			return nil, refusedErr(ctx, err)
		case err != nil:
			s.Close()
			return nil, fmt.Errorf("a session that has ended may have got the lock: %w", err)
		}
	}
	return nil, refusedErr(ctx, err)
}

// open returns a session of the client's own. An idle session may have ended in
// the pool.
func (l *getLock) open(ctx context.Context) (mysql.Handle, error) {
	for {
		l.host.Mark("open")
		s, err := l.port.Open(ctx, l.Timeout)
		if err != nil || !l.WaitTimeout {
			return s, err
		}
		if err = s.SetWaitTimeout(ctx, l.Timeout, l.TTL); err == nil {
			return s, nil
		}
		s.Close()
	}
}

// newLease returns a new lease after drawing its token.
func (l *getLock) newLease(ctx context.Context, s mysql.Handle, name string) (locks.Lease, error) {
	g := &getLockLease{getLock: l, session: s, name: name}
	var err error
	if g.token, err = l.draw(ctx, name); err != nil {
		return nil, undoneErr(err, g.Release(l.host.Life()))
	}
	if l.WaitTimeout {
		g.task = l.host.Go(g.beat)
	}
	return g, nil
}

// getLockLease is a grant: the session that has the named lock.
type getLockLease struct {
	*getLock
	session mysql.Handle
	name    string
	token   uint64
	task    locks.Task // keeps the session alive; nil: not needed
}

func (g *getLockLease) Token() uint64 { return g.token }

// beat keeps the session from being idle. A heartbeat without an answer means
// that the session has ended: the client is notified of the loss.
func (g *getLockLease) beat(ctx context.Context) {
	for {
		g.host.Mark("beat", g.session.ID())
		if g.host.Sleep(ctx, g.TTL/3) != nil {
			return
		}
		switch err := g.session.Ping(ctx, g.TTL/3); {
		case ctx.Err() != nil:
			return
		case err != nil:
			g.host.Report(locks.News{})
			return
		}
	}
}

// Release is RELEASE_LOCK on the session that has the lock. ErrLost: the session
// has ended; ErrNotHeld: it did not have the lock.
func (g *getLockLease) Release(ctx context.Context) error {
	if g.task != nil {
		g.task.Stop()
		g.task.Wait()
	}
	ok, err := g.session.ReleaseLock(ctx, g.Timeout, g.name)
	if err == nil && ok {
		g.session.Return()
		return nil
	}
	g.session.Close() // this frees its remaining locks
	switch {
	case err == nil:
		return locks.ErrNotHeld
	case errors.Is(err, mysql.ErrSessionOver):
		return locks.ErrLost
	}
	return fmt.Errorf("the lock is free when the server knows that the session has ended: %v", err)
}
