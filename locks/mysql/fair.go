package mysql

import (
	"context"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

type fair struct{ published }

// NewFair adds a queue to NewOptimistic: a column with the names of the holder
// and of all waiters, in order. The client whose name is at the head has the
// lock.
//
// So the head of the queue is the only owner, and any client with that name. A
// holder that did not queue is ignored, and two threads with one name are one
// owner. The head takes the lock by the row's id, whatever has happened to the
// row since the read. A release leaves the lease unchanged. When a lease ends the
// head loses its place, even if the head itself discovers it. The entry of a
// client that has died or given up is never removed.
//
// Source: Bailongma, How to build a fair distributed lock with MySQL (in
// Chinese), DbDistributedLock.
func NewFair(h locks.Host, p mysql.Port, o Options) locks.Locker {
	return &fair{published{newLocker(h, p, o)}}
}

func (l *fair) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	return l.tryLockByName(ctx, name, true)
}

// AcquireUnfair is a call with fair = false.
func (l *fair) AcquireUnfair(ctx context.Context, name string) (locks.Lease, error) {
	return l.tryLockByName(ctx, name, false)
}

// checkOrQueue is a try at a lock whose lease has not ended.
func (l *published) checkOrQueue(s statements, lock mysql.Row) (until time.Duration, ok bool) {
	ctx, fairQueue := l.host.Life(), lock.Queue.S
	switch {
	case strings.HasPrefix(fairQueue, l.getQueueID()+separator):
		now, until := l.host.Now().UnixMilli(), l.host.Mono()+l.TTL
		_, err := s.Update(ctx, l.Timeout, mysql.Change{
			Set: mysql.Expires, Row: mysql.Row{Expires: now + l.TTL.Milliseconds()},
			Where: mysql.ID, Match: lock,
			Means: mysql.Grants,
		})
		return until, err == nil // for any number of changed rows
	case l.waitsIn(fairQueue), strings.Count(fairQueue, separator) > fairQueueCapacity:
		return 0, false
	}
	updateCount, err := l.updateFairQueue(ctx, s, fairQueue+l.getQueueID()+separator, lock, mysql.Keeps)
	if err == nil && updateCount == 1 {
		l.reportPlace(lock.ID, lock.Version+1)
	}
	return 0, false
}

// waitsIn reports whether the own name is in the queue, but not at its head.
func (l *published) waitsIn(fairQueue string) bool {
	return strings.Contains(fairQueue, separator+l.getQueueID()+separator)
}

// withoutOwner returns the queue of a lock whose lease has ended: without its
// head, and with the own name added unless it is still there. So a head that
// discovers this itself moves to the end. empty reports that there was no queue,
// and the caller gets the lock. queued reports a place to record: a head that moves
// itself to the end was there in time, so the lock still owes it the first place, and
// fairness judges that (docs/record.md).
func (l *published) withoutOwner(fairQueue mysql.Text) (rest mysql.Text, empty, queued bool) {
	_, behind, _ := strings.Cut(fairQueue.S, separator)
	empty = fairQueue.S == ""
	if fairQueue.Valid && !l.waitsIn(fairQueue.S) {
		behind += l.getQueueID() + separator
		queued = !strings.HasPrefix(fairQueue.S, l.getQueueID()+separator)
	}
	return mysql.Some(behind), empty, queued
}
