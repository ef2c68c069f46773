package mysql

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type getLockPool struct{ locker }

// NewGetLockPool takes a named lock through a pool of connections, as if the lock
// belonged to the caller. It belongs to the session that the pool has lent for
// the one statement. The next caller in the process that borrows this session
// gets the same lock again. A release on another session frees nothing, and its
// result is not checked.
//
// Sources: adonisjs/lucid, issue 1153; TryGhost/knex-migrator, issue 466;
// sanketplus/go-mysql-lock, issue 9.
func NewGetLockPool(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &getLockPool{newLocker(h, p, o)}
}

// Acquire is db.QueryRow("SELECT GET_LOCK(?, ?)").
func (l *getLockPool) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	for {
		l.host.Mark("try")
		wait, _ := l.host.Left(ctx)
		wait = max(wait.Truncate(time.Millisecond), 0)
		ok, err := l.port.GetLock(ctx, wait+l.Timeout, name, wait)
		switch {
		case err != nil:
			return nil, err
		case ok:
			g := &getLockPoolLease{l, name, 0}
			if g.token, err = l.draw(ctx, name); err != nil {
				return nil, undoneErr(err, g.Release(l.host.Life()))
			}
			return g, nil
		}
		if l.backoff(ctx) != nil {
			return nil, locks.ErrNotAcquired
		}
	}
}

// ReleaseName is the call of a caller that unlocks in a finally block.
func (l *getLockPool) ReleaseName(ctx context.Context, name string) error {
	_, err := l.port.ReleaseLock(ctx, l.Timeout, name)
	return err
}

type getLockPoolLease struct {
	*getLockPool
	name  string
	token uint64
}

func (g *getLockPoolLease) Token() uint64                     { return g.token }
func (g *getLockPoolLease) Release(ctx context.Context) error { return g.ReleaseName(ctx, g.name) }
