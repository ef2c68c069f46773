package mysql

import (
	"context"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

type optimistic struct{ published }

// NewOptimistic keeps the lock in a row, with the time at which it ends and a
// version: an INSERT takes it, and from a lock that has ended an UPDATE does, if
// the version is still the one that was read. That much is sound, as long as the
// clients' wall clocks agree. But the release deletes the row with the version
// that it has just read, whoever's that is: a caller who unlocks in a finally
// frees what another holds, and a holder who comes late what the next one does.
// And a statement without an answer is a no, so the row may be the own one,
// which nobody gives back.
//
// Source: Bailongma, How to build a fair distributed lock with MySQL (in
// Chinese), DbDistributedLock with fair = false.
func NewOptimistic(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &optimistic{published{newLocker(h, p, o)}}
}

func (l *optimistic) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.tryLockByName(ctx, name, false)
}
