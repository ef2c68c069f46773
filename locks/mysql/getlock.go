package mysql

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

type getLock struct{ locker }

// NewGetLock takes a named lock of the server's, on a connection that is kept
// for as long as the lock is held. It is its session's: it has no expiry, it
// comes back when the session ends, and when there is any doubt the connection
// is closed, so that it does. Nobody tells the holder: who loses its connection
// or whose server restarts has lost the lock, and goes on. And a session whose
// client has gone without a word lasts for hours. With option WaitTimeout it
// lasts for T, and a heartbeat, each T/3, tells of its end.
//
// Sources: the MySQL manual, "Locking Functions"; for the option the same,
// wait_timeout.
func NewGetLock(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &getLock{newLocker(h, p, o)}
}

// Acquire asks for a while, again and again, so that it notices when ctx ends.
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
			return l.granted(ctx, s, name)
		case err == nil && ctx.Err() != nil, locks.IsDefinite(err):
			s.Return()
			return nil, refused(ctx, err)
		case err != nil:
			s.Close()
			return nil, fmt.Errorf("a session that has ended may have got the lock: %w", err)
		}
	}
	return nil, refused(ctx, err)
}

// open is a session of the client's own. What was idle in the pool may have
// ended there.
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

// granted is a new lease, once it has its token.
func (l *getLock) granted(ctx context.Context, s mysql.Handle, name string) (locks.Lease, error) {
	g := &getLockLease{getLock: l, session: s, name: name}
	var err error
	if g.token, err = l.draw(ctx, name); err != nil {
		return nil, undone(err, g.Release(l.host.Life()))
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
	task    locks.Task // that keeps the session; nil: nobody has to
}

func (g *getLockLease) Token() uint64 { return g.token }

// beat keeps the session from being idle. Whatever keeps a heartbeat from being
// answered has ended the session: its client is told that the lock is lost.
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

// Release is RELEASE_LOCK, on the session that has it. ErrLost: that has ended;
// ErrNotHeld: the lock was not its.
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
	g.session.Close() // which frees what it still has
	switch {
	case err == nil:
		return locks.ErrNotHeld
	case errors.Is(err, mysql.ErrSessionOver):
		return locks.ErrLost
	}
	return fmt.Errorf("the lock is free when the server knows that the session has ended: %v", err)
}
