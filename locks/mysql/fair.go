package mysql

import (
	"context"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

type fair struct{ published }

// NewFair adds a queue to NewOptimistic: a column with the names of the holder
// and of all who wait, in order. Who finds his name at its head has the lock.
//
// So the head of the queue is the only owner that there is, and anybody who has
// that name: a holder that did not queue up is overlooked, and two threads of
// one name are one. The head takes the lock by the row's id, whatever became of
// the row since it was read. A release leaves the lease as it was, and a lease
// that ends costs the head its place, also if it is the head who finds out.
// Nobody takes out the place of one who has died or has given up.
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

// checkOrQueue is a try at a lock that is not over.
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
		return until, err == nil // however many rows there were
	case l.waitsIn(fairQueue), strings.Count(fairQueue, separator) > fairQueueCapacity:
		return 0, false
	}
	updateCount, err := l.updateFairQueue(ctx, s, fairQueue+l.getQueueID()+separator, lock, mysql.Keeps)
	if err == nil && updateCount == 1 {
		l.queued(lock.ID, lock.Version+1)
	}
	return 0, false
}

// waitsIn tells whether the own name is in the queue, but not at its head.
func (l *published) waitsIn(fairQueue string) bool {
	return strings.Contains(fairQueue, separator+l.getQueueID()+separator)
}

// withoutOwner is the queue of a lock that has ended: without its head, and with
// the own name, unless that waits in it. So a head that finds this out itself
// goes to its end. empty: there was no queue, and who comes has the lock.
// queued: the own name was not in it.
func (l *published) withoutOwner(fairQueue mysql.Text) (rest mysql.Text, empty, queued bool) {
	_, behind, _ := strings.Cut(fairQueue.S, separator)
	empty = fairQueue.S == ""
	if fairQueue.Valid && !l.waitsIn(fairQueue.S) {
		behind += l.getQueueID() + separator
		queued = !strings.HasPrefix(fairQueue.S, l.getQueueID()+separator)
	}
	return mysql.Some(behind), empty, queued
}
