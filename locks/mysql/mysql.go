// Package mysql holds the locks that live on a MySQL server: one file for each,
// which reads like the recipe that it implements. The flawed ones are exactly as
// flawed as their source.
//
// A lock called a is a row of the table of mysql.Schema, or a named lock of the
// server's. A row that grants the lock to somebody expires; one that does not
// has 0 there.
package mysql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// Options of a lock. The zero value is the lock as published.
type Options struct {
	TTL     time.Duration // the lease T; of a lock that goes with its session a measure for waits
	Timeout time.Duration // of one statement; 0: T/4, and T/10 where a place in a queue lasts no longer than T/3
	Token   bool          // each grant carries a fencing token

	Address, Thread string // what the client thinks that it is called
	TryInTx         bool   // each try is in a transaction, which ends with the release
	InTx            bool   // callers work in a transaction, and release inside it

	WaitTimeout bool // the server ends a session that has been idle for T, and a task sees to it that it is not

	RowAbsent     bool // nobody has made the row that is locked
	Autocommit    bool // nobody has begun a transaction
	ReadCommitted bool // the isolation level of transactions
}

// locker is what the locks share: a client's end.
type locker struct {
	Options
	host locks.Host
	port mysql.Port
}

func newLocker(h locks.Host, p mysql.Port, o Options) locker {
	if o.Timeout == 0 {
		o.Timeout = o.TTL / 4
	}
	return locker{o, h, p}
}

// Close has nothing to let go of.
func (l *locker) Close(context.Context) error { return nil }

// statements is what mysql.Port and mysql.Handle have in common: the statements
// on rows, on any connection or on this one.
type statements interface {
	Select(ctx context.Context, timeout time.Duration, resource string) (row mysql.Row, found bool, now int64, err error)
	Insert(ctx context.Context, timeout time.Duration, row mysql.Row, lease time.Duration, means ...mysql.Meaning) (id int64, err error)
	Update(ctx context.Context, timeout time.Duration, c mysql.Change) (affected int64, err error)
	Delete(ctx context.Context, timeout time.Duration, where mysql.Columns, match mysql.Row, means ...mysql.Meaning) (affected int64, err error)
}

// backoff comes between two tries. Its error means that ctx has ended.
func (l *locker) backoff(ctx context.Context) error {
	return l.host.Backoff(ctx, l.TTL/100, 3*l.TTL/100)
}

// share is the part of d that is left to ctx, and 1 ms at least: in whole
// milliseconds, as the server counts.
func (l *locker) share(ctx context.Context, d time.Duration) time.Duration {
	if left, ends := l.host.Left(ctx); ends {
		d = min(d, left)
	}
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}

// refused is the error of an acquire that has nothing in the store.
func refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return locks.ErrNotAcquired
	}
	return locks.Definite(err)
}

// draw is a token from the counter of the lock called name, which is a row of
// its own: it is committed before anybody works with it, so what happens to the
// grant does not take it back. 0: none was asked for.
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

// count gives a counter its next value, unless somebody was first.
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
		Means: mysql.Keeps, // a counter is nobody's grant
	})
	return n == 1, err
}

// undone is the error of an acquire that has tried to undo what it did: left
// says why something of it may still be there.
func undone(err, left error) error {
	if left != nil && !locks.IsDefinite(left) {
		return fmt.Errorf("%v; what was granted may still be there: %v", err, left)
	}
	return locks.Definite(err)
}
