package mysql

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Port is the access of one client to a server, through the pool of its
// process. Each method is one statement; see Transport.Do for timeout and
// errors. A server's refusal comes back as a definite Code.
type Port struct{ Transport }

// Handle is a Session with the same methods.
type Handle struct{ Session }

// doer carries one statement.
type doer interface {
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
}

// Open takes a connection out of the pool; see Transport.Open.
func (p Port) Open(ctx context.Context, timeout time.Duration) (Handle, error) {
	s, err := p.Transport.Open(ctx, timeout)
	return Handle{s}, err
}

// Select reads the row of resource, whether there is one, and the server's time
// in milliseconds since 1970.
func (p Port) Select(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, p.Transport, timeout, Select, resource)
}

// Select is Port's.
func (h Handle) Select(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, h.Session, timeout, Select, resource)
}

// SelectForUpdate reads the row of resource and locks it until the transaction
// ends; outside one, until the statement does. Without such a row it locks the
// gap where it would be, at REPEATABLE READ, which keeps nobody from doing the same.
func (h Handle) SelectForUpdate(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, h.Session, timeout, SelectForUpdate, resource)
}

// Insert adds a row, which expires at row.Expires or, with a lease, that long
// from the server's now. A definite Duplicate says that there is one of that
// resource.
func (p Port) Insert(ctx context.Context, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	return insert(ctx, p.Transport, timeout, row, lease, means...)
}

// Insert is Port's.
func (h Handle) Insert(ctx context.Context, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	return insert(ctx, h.Session, timeout, row, lease, means...)
}

// Change is what an Update does.
type Change struct {
	Set   Columns
	Row   Row           // the new values of Set
	Lease time.Duration // of Expires, instead: so long from the server's now
	Where Columns
	Match Row // the old values of Where

	Means Meaning
}

// Update changes the row that Where and Match describe, and returns how many
// there are, 0 or 1, whether something in it is new or not.
func (p Port) Update(ctx context.Context, timeout time.Duration, c Change) (affected int64, err error) {
	return update(ctx, p.Transport, timeout, c)
}

// Update is Port's.
func (h Handle) Update(ctx context.Context, timeout time.Duration, c Change) (affected int64, err error) {
	return update(ctx, h.Session, timeout, c)
}

// Delete removes the row that agrees with match in the columns where, and
// returns how many there were, 0 or 1.
func (p Port) Delete(ctx context.Context, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	return remove(ctx, p.Transport, timeout, where, match, means...)
}

// Delete is Port's.
func (h Handle) Delete(ctx context.Context, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	return remove(ctx, h.Session, timeout, where, match, means...)
}

// Isolate sets the isolation level of the session's transactions from the next
// one on.
func (h Handle) Isolate(ctx context.Context, timeout time.Duration, level Isolation) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Isolate, Isolation: level})
	return err
}

// Begin starts a transaction.
func (h Handle) Begin(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Begin})
	return err
}

// Commit ends the transaction, and what it did stands.
func (h Handle) Commit(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Commit})
	return err
}

// Rollback ends the transaction, and what it did is undone.
func (h Handle) Rollback(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Rollback})
	return err
}

// GetLock is GET_LOCK: it waits on the server for at most wait (negative: for
// ever), and reports whether the session has the lock called name. A session may
// get one several times, and has to release it as often. MariaDB waits for parts
// of a second, too; MySQL 8 takes whole seconds, and rounds wait to them.
func (p Port) GetLock(ctx context.Context, timeout time.Duration, name string, wait time.Duration) (bool, error) {
	return getLock(ctx, p.Transport, timeout, name, wait)
}

// GetLock is Port's.
func (h Handle) GetLock(ctx context.Context, timeout time.Duration, name string, wait time.Duration) (bool, error) {
	return getLock(ctx, h.Session, timeout, name, wait)
}

// ReleaseLock is RELEASE_LOCK: it reports whether the session had the lock.
func (p Port) ReleaseLock(ctx context.Context, timeout time.Duration, name string) (bool, error) {
	return releaseLock(ctx, p.Transport, timeout, name)
}

// ReleaseLock is Port's.
func (h Handle) ReleaseLock(ctx context.Context, timeout time.Duration, name string) (bool, error) {
	return releaseLock(ctx, h.Session, timeout, name)
}

// IsUsedLock is IS_USED_LOCK: the ID of the session that has the lock called
// name; 0: none.
func (h Handle) IsUsedLock(ctx context.Context, timeout time.Duration, name string) (session int64, err error) {
	r, err := do(ctx, h.Session, timeout, Command{Verb: IsUsedLock, Name: name})
	return r.Int, err
}

// SetWaitTimeout has the server end the session when it has been idle for d,
// which it knows in whole seconds only: d is rounded up, and is a second at least.
func (h Handle) SetWaitTimeout(ctx context.Context, timeout, d time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: SetWaitTimeout, Wait: d})
	return err
}

// Kill ends the session with that ID, on behalf of somebody else.
func (p Port) Kill(ctx context.Context, timeout time.Duration, session int64) error {
	_, err := do(ctx, p.Transport, timeout, Command{Verb: Kill, Int: session})
	return err
}

// Ping asks for nothing: the session is not idle.
func (h Handle) Ping(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Ping})
	return err
}

func read(ctx context.Context, d doer, timeout time.Duration, v Verb, resource string) (row Row, found bool, now int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: v, Row: Row{Resource: resource}})
	return r.Row, r.Found, r.Now, err
}

// declared returns the meaning that a caller has declared; none is Undeclared.
func declared(means []Meaning) Meaning {
	if len(means) == 0 {
		return Undeclared
	}
	return means[0]
}

func insert(ctx context.Context, d doer, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Insert, Row: row, Lease: lease, Means: declared(means)})
	return r.ID, err
}

func update(ctx context.Context, d doer, timeout time.Duration, c Change) (affected int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Update, Set: c.Set, Row: c.Row, Lease: c.Lease, Where: c.Where, Match: c.Match, Means: c.Means})
	return r.Affected, err
}

func remove(ctx context.Context, d doer, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Delete, Where: where, Match: match, Means: declared(means)})
	return r.Affected, err
}

func getLock(ctx context.Context, d doer, timeout time.Duration, name string, wait time.Duration) (bool, error) {
	r, err := do(ctx, d, timeout, Command{Verb: GetLock, Name: name, Wait: wait})
	return r.Int == 1, err
}

func releaseLock(ctx context.Context, d doer, timeout time.Duration, name string) (bool, error) {
	r, err := do(ctx, d, timeout, Command{Verb: ReleaseLock, Name: name})
	return r.Int == 1, err
}

func do(ctx context.Context, d doer, timeout time.Duration, c Command) (Reply, error) {
	r, err := d.Do(ctx, timeout, c)
	switch {
	case err != nil:
		return Reply{}, err
	case r.Code != OK:
		return Reply{}, locks.Definite(r.Code)
	}
	return r, nil
}
