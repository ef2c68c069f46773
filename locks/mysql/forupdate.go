package mysql

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type forUpdate struct {
	locker
	rows map[string]bool // known to exist
}

// NewForUpdate locks a row with SELECT … FOR UPDATE, in a transaction that lasts
// for the whole hold. It has no expiry. It is released at the end of the
// transaction: with COMMIT, or with its session. The holder's work outside of the
// transaction continues then, and only fencing protects it.
//
// The row must exist: any number of clients can lock the gap of a missing row
// (option RowAbsent). Without a transaction the lock ends with the statement
// (option Autocommit).
//
// Sources: the MySQL manual, "Locking Reads" and "InnoDB Locking", gap locks.
func NewForUpdate(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &forUpdate{newLocker(h, p, o), map[string]bool{}}
}

// Acquire asks for a while, and then again on another session. A request without
// an answer may have the lock, which delays the others only until that session
// ends.
func (l *forUpdate) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	for {
		l.host.Mark("try")
		if err := l.makeRow(ctx, name); err != nil {
			return nil, refusedErr(ctx, err)
		}
		s, err := l.begin(ctx)
		if err != nil {
			return nil, refusedErr(ctx, err)
		}
		_, found, _, err := s.SelectForUpdate(ctx, l.share(ctx, l.TTL/4), name)
		switch {
		case err == nil && (found || l.RowAbsent):
			return l.newLease(ctx, s, name)
		case err == nil: // the row has been deleted
			s.Close()
			delete(l.rows, name)
			continue
		case locks.IsDefinite(err):
			s.Close()
		default:
			if left := l.end(s); left != nil {
				return nil, fmt.Errorf("%v; its session may get the lock: %v", err, left)
			}
		}
		if canRetry(err) && ctx.Err() == nil {
			continue
		}
		return nil, refusedErr(ctx, err)
	}
}

// canRetry reports whether the next try may succeed.
func canRetry(err error) bool {
	return !locks.IsDefinite(err) || errors.Is(err, mysql.ErrSessionOver) ||
		errors.Is(err, mysql.LockTimeout) || errors.Is(err, mysql.DeadlockFound)
}

// makeRow creates the row to lock, unless it was seen. No client waits for a row
// that is missing.
func (l *forUpdate) makeRow(ctx context.Context, name string) error {
	if l.RowAbsent || l.rows[name] {
		return nil
	}
	_, err := l.port.Insert(ctx, l.Timeout, mysql.Row{Resource: name}, 0, mysql.Keeps)
	if err != nil && !errors.Is(err, mysql.Duplicate) {
		return err
	}
	l.rows[name] = true
	return nil
}

// begin returns a session with a transaction. An idle session may have ended in
// the pool.
func (l *forUpdate) begin(ctx context.Context) (mysql.Handle, error) {
	for {
		l.host.Mark("begin")
		s, err := l.port.Open(ctx, l.Timeout)
		if err != nil {
			return s, err
		}
		if l.ReadCommitted {
			err = s.Isolate(ctx, l.Timeout, mysql.ReadCommitted)
		}
		if err == nil && !l.Autocommit {
			err = s.Begin(ctx, l.Timeout)
		}
		if err == nil {
			return s, nil
		}
		s.Close()
	}
}

// end ends a session that waits for a row. Closing its connection is not enough:
// the server notices that only after the wait.
func (l *forUpdate) end(s mysql.Handle) error {
	s.Close()
	err := l.port.Kill(l.host.Life(), l.Timeout, s.ID())
	if errors.Is(err, mysql.NoSuchSession) {
		return nil
	}
	return err
}

// newLease returns a new lease after drawing its token.
func (l *forUpdate) newLease(ctx context.Context, s mysql.Handle, name string) (locks.Lease, error) {
	g := &forUpdateLease{forUpdate: l, session: s}
	var err error
	if g.token, err = l.draw(ctx, name); err != nil {
		return nil, undoneErr(err, g.Release(l.host.Life()))
	}
	return g, nil
}

// forUpdateLease is a grant: the transaction that has locked the row.
type forUpdateLease struct {
	*forUpdate
	session mysql.Handle
	token   uint64
}

func (g *forUpdateLease) Token() uint64 { return g.token }

// Release is COMMIT. ErrLost: the transaction has ended with its session.
func (g *forUpdateLease) Release(ctx context.Context) error {
	if g.Autocommit {
		g.session.Return()
		return nil
	}
	err := g.session.Commit(ctx, g.Timeout)
	switch {
	case err == nil:
		g.session.Return()
		return nil
	case errors.Is(err, mysql.ErrSessionOver):
		return locks.ErrLost
	}
	g.session.Close()
	return fmt.Errorf("the lock is free when the server knows that the session has ended: %v", err)
}
