package mysql

import (
	"context"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type optimistic struct{ published }

// NewOptimistic keeps the lock in a row with its expiry and a version. An INSERT
// takes the lock. An UPDATE takes it after its expiry, if the version is still
// the one that was read. This is correct as long as the clients' wall clocks
// agree. But the release deletes the row with the version that it has just read,
// whoever owns it. A caller that unlocks in a finally block frees another's lock,
// and a late holder frees the next holder's. A statement without an answer counts
// as a refusal, so the row may belong to the client itself, which never releases
// it.
//
// Source: Bailongma, How to build a fair distributed lock with MySQL (in
// Chinese), DbDistributedLock with fair = false.
func NewOptimistic(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &optimistic{published{newLocker(h, p, o)}}
}

func (l *optimistic) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.tryLockByName(ctx, name, false)
}
