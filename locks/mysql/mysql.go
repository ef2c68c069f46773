// Package mysql has the locks that use a MySQL server: one file for each, which
// reads like the recipe that it implements. The flawed ones are exactly as flawed
// as their source.
//
// A lock called a is a row of the table in mysql.Schema, or a named lock of the
// server. A row with a grant has an expiry; other rows have 0 there.
package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL     time.Duration // the lease T; for a lock that belongs to a session only a scale for waits
	Timeout time.Duration // of one statement; 0: T/4, or T/10 if an entry in a queue lasts no longer than T/3
	Token   bool          // each grant has a fencing token

	Address, Thread string // the client's name for itself
	TryInTx         bool   // each try is in a transaction, which ends with the release
	InTx            bool   // callers work in a transaction and release inside it

	WaitTimeout bool // the server ends a session that has been idle for T, and a task sends heartbeats

	RowAbsent     bool // the row to lock was not created
	Autocommit    bool // there is no transaction
	ReadCommitted bool // the isolation level of transactions
}

// locker is the common part of the locks: a client's data.
type locker struct {
	Options
	host locks.Host
	port mysql.Port
}

func newLocker(h locks.Host, p mysql.Port, o Options) locker {
	o.Timeout = cmp.Or(o.Timeout, o.TTL/4)
	return locker{o, h, p}
}

// Close has nothing to free.
func (l *locker) Close(context.Context) error { return nil }

// statements are the common methods of mysql.Port and mysql.Handle: the
// statements on rows, on any connection or on this one. A Port is passed as *Port,
// which needs no allocation.
type statements interface {
	Select(ctx context.Context, timeout time.Duration, resource string) (row mysql.Row, found bool, now int64, err error)
	Insert(ctx context.Context, timeout time.Duration, row mysql.Row, lease time.Duration, means ...mysql.Meaning) (id int64, err error)
	Update(ctx context.Context, timeout time.Duration, c mysql.Change) (affected int64, err error)
	Delete(ctx context.Context, timeout time.Duration, where mysql.Columns, match mysql.Row, means ...mysql.Meaning) (affected int64, err error)
}

// backoff waits between two tries. It returns an error if ctx has ended.
func (l *locker) backoff(ctx context.Context) error {
	return l.host.Backoff(ctx, l.TTL/100, 3*l.TTL/100)
}

// share returns d, limited by the rest of ctx, in whole milliseconds and at least
// 1 ms, as the server counts.
func (l *locker) share(ctx context.Context, d time.Duration) time.Duration {
	if left, ends := l.host.Left(ctx); ends {
		d = min(d, left)
	}
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}

// refusedErr returns the error of an acquire that has no entry in the store.
func refusedErr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return locks.ErrNotAcquired
	}
	return locks.Definite(err)
}

// draw draws a token from the counter of the lock called name, or returns 0
// without the option. The counter is a row of its own and committed before the
// grant is used, so the end of the grant does not undo it.
func (l *locker) draw(ctx context.Context, name string) (uint64, error) {
	if !l.Token {
		return 0, nil
	}
	counter := mysql.Row{Resource: name + ":token"}
	for {
		l.host.Mark("token")
		row, found, _, err := l.port.Select(ctx, l.Timeout, counter.Resource)
		if err == nil {
			var drawn bool
			counter.Version = row.Version + 1
			drawn, err = l.count(ctx, found, counter)
			if drawn {
				return uint64(counter.Version), nil
			}
		}
		if err == nil {
			err = l.backoff(ctx) // others draw, too
		}
		if err != nil {
			return 0, fmt.Errorf("no token: %w", err)
		}
	}
}

// count increments a counter, unless another client was first.
func (l *locker) count(ctx context.Context, found bool, counter mysql.Row) (bool, error) {
	if !found {
		_, err := l.port.Insert(ctx, l.Timeout, counter, 0, mysql.Keeps)
		if errors.Is(err, mysql.Duplicate) {
			return false, nil
		}
		return err == nil, err
	}
	before := counter
	before.Version--
	n, err := l.port.Update(ctx, l.Timeout, mysql.Change{
		Set: mysql.Version, Row: counter, Where: mysql.Resource | mysql.Version, Match: before,
		Means: mysql.Keeps, // a counter is not a grant
	})
	return n == 1, err
}

// undoneErr returns the error of an acquire that has tried to undo its changes. left
// is the reason why some may remain.
func undoneErr(err, left error) error {
	if left != nil && !locks.IsDefinite(left) {
		return fmt.Errorf("%v; the grant may still exist: %v", err, left)
	}
	return locks.Definite(err)
}
