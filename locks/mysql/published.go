package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// published is the one class of the one source: Bailongma, How to build a fair
// distributed lock with MySQL (in Chinese). Its callers say at each call whether
// they queue up.
//
// Where the source catches an exception and answers no, so does this. What is not
// the source's, which does not show it: the table, for which see mysql.Table; that
// the update of a row that has expired writes NULL where it is given NULL; and how
// long a statement may take. What is ours besides, and only where Options ask for
// it: that a grant draws a token (Token), and the caller's transaction, in which
// the release looks (InTx) or which begins with the try (TryInTx). Without the one that was asked for there is no grant.
type published struct{ locker }

// The source's names.
const (
	separator         = ","
	fairQueueCapacity = 20
	offset            = 250 * time.Millisecond
)

// stack is how many calls of unLockByName within one another a thread has room for.
// That is a choice of ours: a Java thread has room for thousands, of two statements
// each, and a few hundred show the same.
const stack = 300

// errStackOverflow ends the recursion of a release. The caller's transaction is
// rolled back then, as Spring does after any Error.
var errStackOverflow = locks.Definite(errors.New("StackOverflowError in unLockByName"))

// getQueueID is what a thread is called in the queue: in the whole of a program,
// and in all of its acquisitions.
func (l *published) getQueueID() string { return l.Address + "_" + l.Thread }

// tryLockByName adds up what it has slept, and takes that for the time that has
// passed: statements cost nothing. It sleeps also after the last try. What its
// caller gets is a yes or a no, and no is what it takes every exception for.
func (l *published) tryLockByName(ctx context.Context, name string, fair bool) (locks.Lease, error) {
	timeout, ends := l.host.Left(ctx)
	sleeper := l.host.Life()
	if !ends {
		sleeper = ctx // an interrupt is all that can end it
	}
	for total := time.Duration(0); total < timeout || total == 0 || !ends; {
		l.host.Mark("try", int64(total))
		if until, tx, ok := l.attempt(name, fair); ok {
			return l.granted(name, until, tx)
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

// attempt is one try, in a transaction of its own where Options ask for it: one that
// got the lock stays open.
func (l *published) attempt(name string, fair bool) (until time.Duration, tx mysql.Handle, ok bool) {
	if !l.TryInTx {
		until, ok = l.lockByName(l.port, name, fair)
		return until, tx, ok
	}
	tx, err := l.begin(l.host.Life(), name)
	if err != nil {
		return 0, tx, false
	}
	if until, ok = l.lockByName(tx, name, fair); !ok {
		tx.Close() // which rolls back
	}
	return until, tx, ok
}

// lockByName is one try. Who gets the lock believes in it until then.
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
			l.queued(id, 0)
		}
		return until, err == nil
	}
	if lock.Expires >= now { // not over
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
	means := mysql.Frees // a lease that ends costs the head its place
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
		l.queued(lock.ID, newVersion)
	}
	return until, ok && emptyQueue
}

// queued reports that the caller's place in the queue was made by that version
// of that row. Rows get greater ids each time they are made anew.
func (l *published) queued(id, version int64) {
	const versions = 1 << 20
	l.host.Report(locks.News{Queued: id*versions + version + 1})
}

// publishedLease is a grant: by name, whoever's it is meanwhile.
type publishedLease struct {
	*published
	name  string
	token uint64
	until time.Duration
	tx    mysql.Handle // the transaction that the caller works in; zero: none was asked for
}

func (g *publishedLease) Token() uint64        { return g.token }
func (g *publishedLease) Until() time.Duration { return g.until }

// granted is a new lease, once it has its token.
func (l *published) granted(name string, until time.Duration, tx mysql.Handle) (locks.Lease, error) {
	ctx := l.host.Life()
	g := &publishedLease{published: l, name: name, until: until, tx: tx}
	var err error
	if g.token, err = l.draw(ctx, name); err == nil && l.InTx {
		g.tx, err = l.begin(ctx, name)
	}
	if err != nil {
		return nil, undone(err, l.unLockByName(ctx, l.port, name, 0))
	}
	return g, nil
}

// begin opens the transaction of a caller who has got the lock. What it reads
// first it goes on reading: InnoDB takes its snapshot then.
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

// Release is unLockByName, in the caller's transaction where there is one.
func (g *publishedLease) Release(ctx context.Context) error {
	if g.tx.Session == nil {
		return g.unLockByName(ctx, g.port, g.name, 0)
	}
	err := g.unLockByName(ctx, g.tx, g.name, 0)
	if err == nil {
		err = g.tx.Commit(ctx, g.Timeout)
	}
	if err != nil {
		g.tx.Close() // which rolls back
		return err
	}
	g.tx.Return()
	return nil
}

// ReleaseName is what a caller does who unlocks in a finally.
func (l *published) ReleaseName(ctx context.Context, name string) error {
	return l.unLockByName(ctx, l.port, name, 0)
}

// unLockByName gives back what it finds. If that has changed since it looked it
// looks again, and calls itself to do so: in a transaction that goes on reading
// the same, until the stack is full. depth is how often it has called itself.
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
			return nil // the lock may have expired, and its place may be gone
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

// updateFairQueue gives a row another queue, unless it has changed.
func (l *published) updateFairQueue(ctx context.Context, s statements, newFairQueue string, lock mysql.Row, means mysql.Meaning) (int64, error) {
	return s.Update(ctx, l.Timeout, mysql.Change{
		Set:   mysql.Queue | mysql.Version,
		Row:   mysql.Row{Queue: mysql.Some(newFairQueue), Version: lock.Version + 1},
		Where: mysql.ID | mysql.Version, Match: lock,
		Means: means,
	})
}
