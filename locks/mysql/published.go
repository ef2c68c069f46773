package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// published is the one class of the one source: Bailongma, How to build a fair
// distributed lock with MySQL (in Chinese). Its callers choose at each call
// whether they queue.
//
// If the source catches an exception and returns false, so does this code. The
// source does not show the table, see mysql.Table; that the update of an expired
// row writes NULL for a null value; and the timeout of a statement. Our additions
// apply only with their Options: a grant draws a token (Token), and the caller's
// transaction contains the release (InTx) or begins with the try (TryInTx). If an
// addition fails there is no grant.
type published struct{ locker }

// These are the source's names.
const (
	separator         = ","
	fairQueueCapacity = 20
	offset            = 250 * time.Millisecond
)

// stack is the limit of nested calls of unLockByName in a thread. The number is
// our choice: a Java thread has room for thousands of calls with two statements
// each, and a few hundred show the same.
const stack = 300

// errStackOverflow ends the recursion of a release. The caller's transaction is
// then rolled back, as Spring does after any Error.
var errStackOverflow = locks.Definite(errors.New("StackOverflowError in unLockByName"))

// getQueueID returns a thread's name in the queue, the same for all its
// acquisitions in a program.
func (l *published) getQueueID() string { return l.Address + "_" + l.Thread }

// tryLockByName adds up its sleeps and takes the sum for the time that has
// passed: statements count as 0. It also sleeps after the last try. Its caller
// gets true or false; every exception counts as false.
func (l *published) tryLockByName(ctx context.Context, name string, fair bool) (locks.Lease, error) {
	timeout, ends := l.host.Left(ctx)
	sleeper := l.host.Life()
	if !ends {
		sleeper = ctx // only an interrupt can end it
	}
	for total := time.Duration(0); total < timeout || total == 0 || !ends; {
		l.host.Mark("try", int64(total))
		if until, tx, ok := l.attempt(name, fair); ok {
			return l.newLease(name, until, tx)
		}
		if ends && timeout <= 0 || l.host.Backoff(sleeper, offset, 0) != nil {
			break
		}
		if ends {
			total += offset
		}
	}
	return nil, locks.ErrNotAcquired
}

// attempt is one try, in a transaction of its own with TryInTx. After a success
// the transaction stays open.
func (l *published) attempt(name string, fair bool) (until time.Duration, tx mysql.Handle, ok bool) {
	if !l.TryInTx {
		until, ok = l.lockByName(&l.port, name, fair)
		return until, tx, ok
	}
	tx, err := l.begin(l.host.Life(), name)
	if err != nil {
		return 0, tx, false
	}
	if until, ok = l.lockByName(tx, name, fair); !ok {
		tx.Close() // this rolls back
	}
	return until, tx, ok
}

// lockByName is one try. After a success the client believes that it holds the
// lock until then.
func (l *published) lockByName(s statements, name string, fair bool) (until time.Duration, ok bool) {
	ctx := l.host.Life()
	lock, found, _, err := s.Select(ctx, l.Timeout, name)
	if err != nil {
		return 0, false
	}
	now, until := l.host.Now().UnixMilli(), l.host.Mono()+l.TTL
	if !found {
		lock = mysql.Row{Resource: name, Expires: now + l.TTL.Milliseconds()}
		if fair {
			lock.Queue = mysql.Some(l.getQueueID() + separator)
		}
		id, err := s.Insert(ctx, l.Timeout, lock, 0, mysql.Grants)
		if err == nil && fair {
			l.reportPlace(id, 0)
		}
		return until, err == nil
	}
	if lock.Expires >= now { // not expired
		if fair {
			return l.checkOrQueue(s, lock)
		}
		return 0, false
	}
	newVersion, newFairQueue := lock.Version+1, mysql.Text{}
	emptyQueue, queued := !fair, false
	if fair {
		newFairQueue, emptyQueue, queued = l.withoutOwner(lock.Queue)
	}
	means := mysql.Frees // when a lease ends the head loses its place
	if emptyQueue {
		means = mysql.Grants
	}
	updateCount, err := s.Update(ctx, l.Timeout, mysql.Change{
		Set:   mysql.Expires | mysql.Version | mysql.Queue,
		Row:   mysql.Row{Expires: now + l.TTL.Milliseconds(), Version: newVersion, Queue: newFairQueue},
		Where: mysql.ID | mysql.Version, Match: lock,
		Means: means,
	})
	ok = err == nil && updateCount == 1
	if ok && queued {
		l.reportPlace(lock.ID, newVersion)
	}
	return until, ok && emptyQueue
}

// reportPlace reports the place of the row's version in the queue. A new row has a
// greater id than an old one.
func (l *published) reportPlace(id, version int64) {
	const versions = 1 << 20
	l.host.Report(locks.News{Queued: id*versions + version + 1})
}

// publishedLease is a grant by name: its release affects any holder.
type publishedLease struct {
	*published
	name  string
	token uint64
	until time.Duration
	tx    mysql.Handle // the caller's transaction; zero without InTx
}

func (g *publishedLease) Token() uint64        { return g.token }
func (g *publishedLease) Until() time.Duration { return g.until }

// newLease returns a new lease after drawing its token.
func (l *published) newLease(name string, until time.Duration, tx mysql.Handle) (locks.Lease, error) {
	ctx := l.host.Life()
	g := &publishedLease{published: l, name: name, until: until, tx: tx}
	var err error
	if g.token, err = l.draw(ctx, name); err == nil && l.InTx {
		g.tx, err = l.begin(ctx, name)
	}
	if err != nil {
		return nil, undoneErr(err, l.unLockByName(ctx, &l.port, name, 0))
	}
	return g, nil
}

// begin opens the transaction of a caller that has the lock. Its first read makes
// InnoDB's snapshot, so later reads see the same.
func (l *published) begin(ctx context.Context, name string) (mysql.Handle, error) {
	tx, err := l.port.Open(ctx, l.Timeout)
	if err != nil {
		return mysql.Handle{}, err
	}
	if err = tx.Begin(ctx, l.Timeout); err == nil {
		_, _, _, err = tx.Select(ctx, l.Timeout, name)
	}
	if err != nil {
		tx.Close()
		return mysql.Handle{}, fmt.Errorf("no transaction: %w", err)
	}
	return tx, nil
}

// Release is unLockByName, in the caller's transaction if there is one.
func (g *publishedLease) Release(ctx context.Context) error {
	if g.tx.Session == nil {
		return g.unLockByName(ctx, &g.port, g.name, 0)
	}
	err := g.unLockByName(ctx, g.tx, g.name, 0)
	if err == nil {
		err = g.tx.Commit(ctx, g.Timeout)
	}
	if err != nil {
		g.tx.Close() // this rolls back
		return err
	}
	g.tx.Return()
	return nil
}

// ReleaseName is the call of a caller that unlocks in a finally block.
func (l *published) ReleaseName(ctx context.Context, name string) error {
	return l.unLockByName(ctx, &l.port, name, 0)
}

// unLockByName releases the row that it finds. If the row has changed since the
// read it reads again and calls itself. In a transaction every read returns the
// same, until the stack is full. depth is the number of nested calls.
func (l *published) unLockByName(ctx context.Context, s statements, name string, depth int) error {
	if depth == stack {
		return errStackOverflow
	}
	lock, found, _, err := s.Select(ctx, l.Timeout, name)
	if err != nil || !found {
		return err
	}
	queueStr, newFairQueue := l.getQueueID()+separator, ""
	if fairQueue := lock.Queue.S; fairQueue != "" {
		var first bool
		if newFairQueue, first = strings.CutPrefix(fairQueue, queueStr); !first {
			return nil // the lock may have expired and its place may be gone
		}
	}
	var count int64
	if newFairQueue == "" {
		count, err = s.Delete(ctx, l.Timeout, mysql.Resource|mysql.Version, lock, mysql.Frees)
	} else {
		count, err = l.updateFairQueue(ctx, s, newFairQueue, lock, mysql.Frees)
	}
	if err != nil || count == 1 {
		return err
	}
	return l.unLockByName(ctx, s, name, depth+1)
}

// updateFairQueue changes the queue of a row, unless the row has changed.
func (l *published) updateFairQueue(ctx context.Context, s statements, newFairQueue string, lock mysql.Row, means mysql.Meaning) (int64, error) {
	return s.Update(ctx, l.Timeout, mysql.Change{
		Set:   mysql.Queue | mysql.Version,
		Row:   mysql.Row{Queue: mysql.Some(newFairQueue), Version: lock.Version + 1},
		Where: mysql.ID | mysql.Version, Match: lock,
		Means: means,
	})
}
