package mysql

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Port is one client's access to a server, through the pool of its process. Each
// method is one statement; see Transport.Do for timeout and errors. A server's
// refusal is returned as a definite Code.
type Port struct{ Transport }

// Handle is a Session with the same methods.
type Handle struct{ Session }

// doer executes one statement.
type doer interface {
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
}

// Open takes a connection out of the pool; see Transport.Open.
func (p Port) Open(ctx context.Context, timeout time.Duration) (Handle, error) {
	s, err := p.Transport.Open(ctx, timeout)
	return Handle{s}, err
}

// Select returns the row of resource, if it exists, and the server's time in
// milliseconds since 1970.
func (p Port) Select(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, p.Transport, timeout, Select, resource)
}

// Select is like Port.Select.
func (h Handle) Select(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, h.Session, timeout, Select, resource)
}

// SelectForUpdate returns the row of resource and locks it until the end of the
// transaction, or of the statement outside of one. If the row does not exist it
// locks the gap at REPEATABLE READ. Other sessions can lock the same gap.
func (h Handle) SelectForUpdate(ctx context.Context, timeout time.Duration, resource string) (row Row, found bool, now int64, err error) {
	return read(ctx, h.Session, timeout, SelectForUpdate, resource)
}

// Insert adds a row, which expires at row.Expires or, with a lease, that long
// after the server's present time. A definite Duplicate means that the resource
// already has a row.
func (p Port) Insert(ctx context.Context, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	return insert(ctx, p.Transport, timeout, row, lease, means...)
}

// Insert is like Port.Insert.
func (h Handle) Insert(ctx context.Context, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	return insert(ctx, h.Session, timeout, row, lease, means...)
}

// Change describes an Update.
type Change struct {
	Set   Columns
	Row   Row           // the new values of Set
	Lease time.Duration // replaces Expires: that long after the server's present time
	Where Columns
	Match Row // the old values of Where

	Means Meaning
}

// Update changes the row that Where and Match select. It returns the number of
// selected rows, 0 or 1, even if nothing in the row is new.
func (p Port) Update(ctx context.Context, timeout time.Duration, c Change) (affected int64, err error) {
	return update(ctx, p.Transport, timeout, c)
}

// Update is like Port.Update.
func (h Handle) Update(ctx context.Context, timeout time.Duration, c Change) (affected int64, err error) {
	return update(ctx, h.Session, timeout, c)
}

// Delete removes the row that equals match in the columns where, and returns how
// many there were, 0 or 1.
func (p Port) Delete(ctx context.Context, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	return remove(ctx, p.Transport, timeout, where, match, means...)
}

// Delete is like Port.Delete.
func (h Handle) Delete(ctx context.Context, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	return remove(ctx, h.Session, timeout, where, match, means...)
}

// Isolate sets the isolation level of the session's next transactions.
func (h Handle) Isolate(ctx context.Context, timeout time.Duration, level Isolation) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Isolate, Isolation: level})
	return err
}

// Begin starts a transaction.
func (h Handle) Begin(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Begin})
	return err
}

// Commit commits the transaction.
func (h Handle) Commit(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Commit})
	return err
}

// Rollback undoes the transaction.
func (h Handle) Rollback(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Rollback})
	return err
}

// GetLock is GET_LOCK: it waits on the server for at most wait (negative: for
// ever), and reports whether the session has the lock called name. A session may
// get a lock several times, and must release it as often. MySQL 8 rounds wait to
// whole seconds; MariaDB does not.
func (p Port) GetLock(ctx context.Context, timeout time.Duration, name string, wait time.Duration) (bool, error) {
	return getLock(ctx, p.Transport, timeout, name, wait)
}

// GetLock is like Port.GetLock.
func (h Handle) GetLock(ctx context.Context, timeout time.Duration, name string, wait time.Duration) (bool, error) {
	return getLock(ctx, h.Session, timeout, name, wait)
}

// ReleaseLock is RELEASE_LOCK: it reports whether the session had the lock.
func (p Port) ReleaseLock(ctx context.Context, timeout time.Duration, name string) (bool, error) {
	return releaseLock(ctx, p.Transport, timeout, name)
}

// ReleaseLock is like Port.ReleaseLock.
func (h Handle) ReleaseLock(ctx context.Context, timeout time.Duration, name string) (bool, error) {
	return releaseLock(ctx, h.Session, timeout, name)
}

// IsUsedLock is IS_USED_LOCK: it returns the ID of the session that has the lock
// called name, or 0.
func (h Handle) IsUsedLock(ctx context.Context, timeout time.Duration, name string) (session int64, err error) {
	r, err := do(ctx, h.Session, timeout, Command{Verb: IsUsedLock, Name: name})
	return r.Int, err
}

// SetWaitTimeout makes the server end the session after d of idleness. The server
// uses whole seconds: d is rounded up, to at least one second.
func (h Handle) SetWaitTimeout(ctx context.Context, timeout, d time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: SetWaitTimeout, Wait: d})
	return err
}

// Kill ends the session with that ID.
func (p Port) Kill(ctx context.Context, timeout time.Duration, session int64) error {
	_, err := do(ctx, p.Transport, timeout, Command{Verb: Kill, Int: session})
	return err
}

// Ping does nothing, but resets the session's idle time.
func (h Handle) Ping(ctx context.Context, timeout time.Duration) error {
	_, err := do(ctx, h.Session, timeout, Command{Verb: Ping})
	return err
}

func read(ctx context.Context, d doer, timeout time.Duration, v Verb, resource string) (row Row, found bool, now int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: v, Row: Row{Resource: resource}})
	return r.Row, r.Found, r.Now, err
}

// meaningOf returns the declared meaning, or Undeclared.
func meaningOf(means []Meaning) Meaning {
	if len(means) == 0 {
		return Undeclared
	}
	return means[0]
}

func insert(ctx context.Context, d doer, timeout time.Duration, row Row, lease time.Duration, means ...Meaning) (id int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Insert, Row: row, Lease: lease, Means: meaningOf(means)})
	return r.ID, err
}

func update(ctx context.Context, d doer, timeout time.Duration, c Change) (affected int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Update, Set: c.Set, Row: c.Row, Lease: c.Lease, Where: c.Where, Match: c.Match, Means: c.Means})
	return r.Affected, err
}

func remove(ctx context.Context, d doer, timeout time.Duration, where Columns, match Row, means ...Meaning) (affected int64, err error) {
	r, err := do(ctx, d, timeout, Command{Verb: Delete, Where: where, Match: match, Means: meaningOf(means)})
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
