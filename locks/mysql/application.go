package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// application is one acquisition of a fairFixed: what it has learnt and said.
type application struct {
	*fairFixed
	name, id string
	place    int64 // the version that made its place in the queue, which was reported; 0: it has none
	// doubt is the version that a write would have made of which no answer came:
	// that may be executed as long as the row's is smaller. 0: there is none.
	doubt int64
	wrote bool // something of it may be in the row
}

// state is the row as it was read.
type state struct {
	mysql.Row
	found bool
	now   int64         // by the server's clock
	at    time.Duration // on Host.Mono, before it was read
	queue queue
}

func (a *application) read(ctx context.Context) (s state, err error) {
	s.at = a.host.Mono()
	s.Row, s.found, s.now, err = a.port.Select(ctx, a.Timeout, a.name)
	s.queue = parseQueue(s.Queue.S)
	return s, err
}

// free tells whether the row grants the lock to nobody. A time of whole
// milliseconds, which were rounded down, is over when the next one has begun.
func (s *state) free() bool { return !s.Owner.Valid || s.Expires < s.now }

// try is one look at the row, and what follows from it. Without a grant and an
// error there is nothing to do but to wait.
func (a *application) try(ctx context.Context) (*fairLease, error) {
	s, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	if s.Owner == mysql.Some(a.id) && !s.free() {
		// A write without an answer was executed, and others may have raised the
		// version since.
		left := time.Duration(s.Expires-s.now) * time.Millisecond
		return a.granted(cmp.Or(a.doubt, s.Version), s.at+left), nil
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

// settle takes in what became of a write without an answer, and of the place.
func (a *application) settle(s *state, own int) {
	switch {
	case own < 0:
		a.place = 0
	case a.place == 0:
		a.queued(cmp.Or(a.doubt, s.Version))
	}
	if s.Version >= a.doubt {
		a.doubt = 0
	}
}

// queued reports the place in the queue that a version has made.
func (a *application) queued(version int64) {
	a.place = version
	a.host.Report(locks.News{Queued: version + 1})
}

// enter takes the lock, and leaves in the queue who is behind. Who was ahead has
// not been heard of for too long.
func (a *application) enter(ctx context.Context, s state, behind queue) (*fairLease, error) {
	sent := a.host.Mono()
	ok, err := a.write(ctx, &s, mysql.Owner|mysql.Expires, behind, a.TTL)
	if !ok {
		return nil, err
	}
	return a.granted(s.Version+1, sent+a.TTL), nil
}

// granted is a grant. Who has not waited for it had the only place in the queue.
func (a *application) granted(version int64, until time.Duration) *fairLease {
	if a.place == 0 {
		a.queued(version)
	}
	return &fairLease{a, version, until}
}

// wait sees to it that there is a place in the queue that lasts for a while.
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
		return nil // until somebody leaves
	}
	ok, err := a.write(ctx, &s, 0, longer, 0)
	if ok {
		a.queued(s.Version + 1)
	}
	return err
}

// write gives the row a queue and the next version, and with set an owner, too:
// the own id with a lease, nobody without. ok: it was still as it was read.
func (a *application) write(ctx context.Context, s *state, set mysql.Columns, q queue, lease time.Duration) (ok bool, err error) {
	row := mysql.Row{Resource: a.name, Version: s.Version + 1, Queue: mysql.Some(q.String())}
	means := mysql.Keeps // a place in the queue
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

// withdraw takes out of the row what is the application's, and sees to it that
// no write without an answer puts anything there later. It tries for T/2, since
// its caller has no time left to give; then a task goes on with it, and the error
// is not definite.
func (a *application) withdraw(ctx context.Context, cause error) error {
	end := a.host.Mono() + a.TTL/2
	err := a.cleanUp(a.host.Life(), func() bool { return a.host.Mono() < end })
	if err != nil {
		a.host.Go(func(ctx context.Context) { _ = a.cleanUp(ctx, func() bool { return true }) })
		return fmt.Errorf("gave up, and its place may stay in the queue for a while: %v", err)
	}
	return refused(ctx, cause)
}

// cleanUp cleans until the row is clean, or there is no time for more.
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

// errBusy: others have written the row meanwhile, again and again.
var errBusy = errors.New("the row has changed")

// clean tries so once. A write that takes the version that one in doubt would
// need keeps that from being executed.
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
