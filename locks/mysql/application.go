package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// application is the state of one acquisition of a fairFixed.
type application struct {
	*fairFixed
	name, id string
	place    int64 // the version of its entry in the queue, which has been reported; 0: no entry
	// doubt is the version of a write without an answer. The write may still be
	// executed while the row's version is smaller. 0: none.
	doubt int64
	wrote bool // it may have an entry in the row
}

// state is the row at the time of a read.
type state struct {
	mysql.Row
	found bool
	now   int64         // the server's clock
	at    time.Duration // on Host.Mono, before the read
	queue queue
}

func (a *application) read(ctx context.Context) (s state, err error) {
	s.at = a.host.Mono()
	s.Row, s.found, s.now, err = a.port.Select(ctx, a.Timeout, a.name)
	s.queue = parseQueue(s.Queue.S)
	return s, err
}

// free reports whether the lock is free. Expiry times are rounded down to
// milliseconds, so a lease ends when the next millisecond begins.
func (s *state) free() bool { return !s.Owner.Valid || s.Expires < s.now }

// try reads the row once and acts on it. If it returns neither a grant nor an
// error the caller must wait.
func (a *application) try(ctx context.Context) (*fairLease, error) {
	s, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	if s.Owner == mysql.Some(a.id) && !s.free() {
		// A write without an answer was executed, and others may have increased
		// the version since.
		left := time.Duration(s.Expires-s.now) * time.Millisecond
		return a.newLease(cmp.Or(a.doubt, s.Version), s.at+left), nil
	}
	own := s.queue.find(a.id)
	a.settle(&s, own)
	ahead, behind := s.queue, queue(nil)
	if own >= 0 {
		ahead, behind = s.queue[:own], s.queue[own+1:]
	}
	if s.free() && !ahead.counts(s.now) {
		return a.enter(ctx, s, behind)
	}
	return nil, a.wait(ctx, s, own)
}

// settle clears up a write without an answer and a lost place.
func (a *application) settle(s *state, own int) {
	switch {
	case own < 0:
		a.place = 0
	case a.place == 0:
		a.reportPlace(cmp.Or(a.doubt, s.Version))
	}
	if s.Version >= a.doubt {
		a.doubt = 0
	}
}

// reportPlace reports the place in the queue that a version has made.
func (a *application) reportPlace(version int64) {
	a.place = version
	a.host.Report(locks.News{Queued: version + 1})
}

// enter takes the lock and keeps the waiters behind in the queue. The entries of
// those ahead have expired.
func (a *application) enter(ctx context.Context, s state, behind queue) (*fairLease, error) {
	sent := a.host.Mono()
	ok, err := a.write(ctx, &s, mysql.Owner|mysql.Expires, behind, a.TTL)
	if !ok {
		return nil, err
	}
	return a.newLease(s.Version+1, sent+a.TTL), nil
}

// newLease returns a grant. Without an earlier report its place in the queue is
// reported now.
func (a *application) newLease(version int64, until time.Duration) *fairLease {
	if a.place == 0 {
		a.reportPlace(version)
	}
	return &fairLease{a, version, until}
}

// wait makes sure that there is an entry in the queue that lasts for a while.
func (a *application) wait(ctx context.Context, s state, own int) error {
	ttl := (a.TTL / 3).Milliseconds()
	if own >= 0 {
		if s.queue[own].until-s.now > ttl*2/3 {
			return nil
		}
		s.queue[own].until = s.now + ttl
		_, err := a.write(ctx, &s, 0, s.queue, 0)
		return err
	}
	longer := append(s.queue, place{a.id, s.now + ttl})
	if longer.full() {
		longer = slices.DeleteFunc(longer, func(p place) bool { return p.until < s.now })
	}
	if longer.full() {
		return nil // until an entry is removed
	}
	ok, err := a.write(ctx, &s, 0, longer, 0)
	if ok {
		a.reportPlace(s.Version + 1)
	}
	return err
}

// write gives the row a queue and the next version. With set it also writes the
// owner: the own id if there is a lease, else none. ok reports whether the row
// was unchanged since the read.
func (a *application) write(ctx context.Context, s *state, set mysql.Columns, q queue, lease time.Duration) (ok bool, err error) {
	row := mysql.Row{Resource: a.name, Version: s.Version + 1, Queue: mysql.Some(q.String())}
	means := mysql.Keeps // an entry in the queue
	switch {
	case lease > 0:
		row.Owner, means = mysql.Some(a.id), mysql.Grants
	case set&mysql.Owner != 0:
		means = mysql.Frees
	}
	if !s.found {
		_, err = a.port.Insert(ctx, a.Timeout, row, lease, means)
		ok = err == nil
	} else {
		var n int64
		n, err = a.port.Update(ctx, a.Timeout, mysql.Change{
			Set: mysql.Version | mysql.Queue | set, Row: row, Lease: lease,
			Where: mysql.Resource | mysql.Version, Match: s.Row,
			Means: means,
		})
		ok = n == 1
	}
	if err != nil && !locks.IsDefinite(err) {
		a.doubt = row.Version
	}
	a.wrote = a.wrote || ok || a.doubt > 0
	return ok, err
}

// withdraw removes the application's entries from the row, and makes sure that no
// write without an answer adds one later. It tries for T/2, although its caller's
// time is over. Then a task continues, and the error is not definite.
func (a *application) withdraw(ctx context.Context, cause error) error {
	end := a.host.Mono() + a.TTL/2
	err := a.cleanUp(a.host.Life(), func() bool { return a.host.Mono() < end })
	if err != nil {
		a.host.Go(func(ctx context.Context) { _ = a.cleanUp(ctx, func() bool { return true }) })
		return fmt.Errorf("gave up, and its place may stay in the queue for a while: %v", err)
	}
	return refusedErr(ctx, cause)
}

// cleanUp calls clean until the row is clean, or more returns false.
func (a *application) cleanUp(ctx context.Context, more func() bool) error {
	for a.wrote {
		a.host.Mark("clean", a.doubt)
		clean, err := a.clean(ctx)
		switch {
		case clean:
			a.wrote = false
		case !more():
			return cmp.Or(err, errBusy)
		default:
			if err := a.backoff(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// errBusy: others have changed the row at each try.
var errBusy = errors.New("the row has changed")

// clean tries once. A write of the version in doubt prevents the doubtful write
// from being executed.
func (a *application) clean(ctx context.Context) (bool, error) {
	s, err := a.read(ctx)
	if err != nil {
		return false, err
	}
	own, owner := s.queue.find(a.id), s.Owner == mysql.Some(a.id)
	if own < 0 && !owner && (a.doubt == 0 || s.Version >= a.doubt) {
		return true, nil
	}
	set := mysql.Columns(0)
	if owner {
		set = mysql.Owner | mysql.Expires
	}
	if own >= 0 {
		s.queue = slices.Delete(s.queue, own, own+1)
	}
	return a.write(ctx, &s, set, s.queue, 0)
}
