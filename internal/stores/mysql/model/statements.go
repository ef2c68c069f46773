package model

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// carryOn continues x's statement, from its beginning or from its wait. It does
// not repeat steps before the wait.
func (s *Server) carryOn(x *session) {
	if !x.trx.open {
		x.trx.isolation = x.isolation
	}
	s.assignNumber(x)
	switch c := &x.command; c.Verb {
	case mysql.Select:
		s.read(x)
	case mysql.SelectForUpdate:
		s.readForUpdate(x)
	case mysql.Insert:
		s.insert(x)
	case mysql.Update:
		s.update(x)
	case mysql.Delete:
		s.remove(x)
	case mysql.Isolate:
		x.isolation = c.Isolation
		s.answer(x, mysql.Reply{})
	case mysql.Begin:
		if s.commit(x) {
			x.trx.open, x.trx.isolation = true, x.isolation
			s.answer(x, mysql.Reply{})
		}
	case mysql.Commit:
		if s.commit(x) {
			s.answer(x, mysql.Reply{})
		}
	case mysql.Rollback:
		s.rollback(x, x.by)
		s.answer(x, mysql.Reply{})
	case mysql.GetLock:
		s.getLock(x)
	case mysql.ReleaseLock:
		s.releaseLock(x)
	case mysql.IsUsedLock:
		s.isUsedLock(x)
	case mysql.Kill:
		s.killSession(x)
	case mysql.SetWaitTimeout:
		x.waitTime = max(time.Second, (c.Wait + time.Second - 1).Truncate(time.Second))
		s.answer(x, mysql.Reply{})
	default: // Ping
		s.answer(x, mysql.Reply{})
	}
}

// finish ends x's statement, and its transaction if there is only this statement.
func (s *Server) finish(x *session, r mysql.Reply) {
	if x.trx.open || s.commit(x) {
		s.answer(x, r)
	}
}

// refuse ends x's statement, which has no effect. It also ends a transaction of
// only this statement, or one that was in a deadlock.
func (s *Server) refuse(x *session, code mysql.Code) {
	s.stopWaiting(x)
	switch {
	case code == mysql.DeadlockFound:
		s.rollback(x, 0)
	case !x.trx.open:
		s.rollback(x, x.by)
	default:
		s.undo(x, x.written)
	}
	s.answer(x, mysql.Reply{Code: code})
}

func (s *Server) read(x *session) {
	row, found := s.visible(x, x.command.Row.Resource)
	s.finish(x, mysql.Reply{Found: found, Row: row, Now: x.ms})
}

func (s *Server) readForUpdate(x *session) {
	if s.follower {
		s.refuse(x, mysql.ReadOnlyServer)
		return
	}
	r, ok := s.find(x, byResource, &x.command.Row)
	if !ok {
		return
	}
	reply := mysql.Reply{Now: x.ms}
	if r != nil {
		reply.Found, reply.Row = true, r.row
		s.hold(x, r)
	}
	s.finish(x, reply)
}

func (s *Server) insert(x *session) {
	t := &s.table
	if x.record == nil {
		row := x.command.Row
		if code := s.writable(&row); code != mysql.OK {
			s.refuse(x, code)
			return
		}
		if x.command.Lease != 0 {
			row.Expires = x.ms + x.command.Lease.Milliseconds()
		}
		x.record = t.newRecord()
		x.record.row = row
		x.record.row.ID = t.nextID
		t.nextID++
	}
	r := x.record
	if !x.placed {
		if !s.lock(x, byID, t.from(byID, t.at(byID, r)), true, insertIntention) {
			return
		}
		x.placed = true
		s.put(x, byID, r)
		s.write(x, r, r.row, inserted)
	}
	// A row with the same key stays locked until it is known to be deleted.
	n, ghosts := t.seek(byResource, &r.row), false
	for ; t.from(byResource, n).matches(byResource, &r.row); n++ {
		other := t.from(byResource, n)
		if !s.lock(x, byResource, other, false, nextKey) {
			return
		}
		if !other.deleted {
			s.refuse(x, mysql.Duplicate)
			return
		}
		ghosts = true
	}
	if ghosts && !s.lock(x, byResource, t.from(byResource, n), false, nextKey) {
		return
	}
	if !s.lock(x, byResource, t.from(byResource, t.at(byResource, r)), true, insertIntention) {
		return
	}
	s.noteIndexChange(x)
	s.put(x, byResource, r)
	s.finish(x, mysql.Reply{ID: r.row.ID})
}

// put puts x's record r into index i.
func (s *Server) put(x *session, i index, r *record) {
	s.table.place(i, r)
	s.split(i, r, s.table.from(i, s.table.at(i, r)+1))
	s.lockImplicitly(x, i, r)
}

func (s *Server) update(x *session) {
	c := &x.command
	r := s.choose(x)
	if r == nil {
		return
	}
	row := r.row
	if c.Set&mysql.Version != 0 {
		row.Version = c.Row.Version
	}
	if c.Set&mysql.Expires != 0 {
		row.Expires = c.Row.Expires
	}
	if c.Lease != 0 {
		row.Expires = x.ms + c.Lease.Milliseconds()
	}
	if c.Set&mysql.Queue != 0 {
		row.Queue = c.Row.Queue
	}
	if c.Set&mysql.Owner != 0 {
		row.Owner = c.Row.Owner
	}
	if code := s.writable(&row); code != mysql.OK {
		s.refuse(x, code)
		return
	}
	s.write(x, r, row, updated)
	s.finish(x, mysql.Reply{Affected: 1})
}

func (s *Server) remove(x *session) {
	r := s.choose(x)
	if r == nil {
		return
	}
	x.placed = true
	if !s.lockImplicitly(x, byResource, r) {
		return
	}
	s.noteIndexChange(x)
	s.write(x, r, r.row, deleted)
	s.finish(x, mysql.Reply{Affected: 1})
}

// choose finds and locks the row that Where describes. It returns nil if x must wait,
// or has its answer: a refusal, or that there is no such row.
func (s *Server) choose(x *session) *record {
	if s.follower {
		s.refuse(x, mysql.ReadOnlyServer)
		return nil
	}
	c := &x.command
	i := byID
	if c.Where&mysql.ID == 0 {
		i = byResource
	}
	had := len(s.locks)
	r, ok := s.find(x, i, &c.Match)
	switch {
	case !ok:
		return nil
	case r != nil && agrees(&r.row, &c.Match, c.Where):
		return r
	case r != nil && x.trx.isolation == mysql.ReadCommitted && i == byID:
		s.unlock(x, had) // MariaDB keeps the lock on a row found by its resource
	}
	s.finish(x, mysql.Reply{})
	return nil
}

// find finds and locks the current record of index i with row's key, or returns
// nil. It returns false if x must wait or has been refused. At REPEATABLE READ it
// locks the gap if there is no record, and the gap before a record found by its
// resource. At READ COMMITTED it does not lock a record found by its resource if
// assumesLocked is true.
func (s *Server) find(x *session, i index, row *mysql.Row) (*record, bool) {
	gaps := x.trx.isolation == mysql.RepeatableRead
	n := s.table.seek(i, row)
	r := s.table.from(i, n)
	for ; r.matches(i, row); r = s.table.from(i, n) {
		sp := recordOnly
		if gaps && (r.deleted || i == byResource) {
			sp = nextKey
		}
		taken := i == byResource && sp == recordOnly && s.assumesLocked(x, r)
		if !taken && !s.lock(x, i, r, true, sp) {
			return nil, false
		}
		switch {
		case !r.deleted:
			return r, i == byID || s.lock(x, byID, r, true, recordOnly)
		case i == byID:
			return nil, true // no other record can follow
		}
		n++
	}
	if gaps {
		s.lock(x, i, r, true, gapOnly)
	}
	return nil, true
}

// agrees reports whether row equals match in the columns where.
func agrees(row, match *mysql.Row, where mysql.Columns) bool {
	return (where&mysql.ID == 0 || row.ID == match.ID) &&
		(where&mysql.Resource == 0 || key(row.Resource) == key(match.Resource)) &&
		(where&mysql.Version == 0 || row.Version == match.Version) &&
		(where&mysql.Expires == 0 || row.Expires == match.Expires) &&
		(where&mysql.Queue == 0 || same(row.Queue, match.Queue)) &&
		(where&mysql.Owner == 0 || same(row.Owner, match.Owner))
}

func same(a, b mysql.Text) bool { return a.Valid == b.Valid && key(a.S) == key(b.S) }

// writable returns the reason why row cannot be written, or OK.
func (s *Server) writable(row *mysql.Row) mysql.Code {
	switch {
	case s.follower:
		return mysql.ReadOnlyServer
	case !fits(&row.Resource, mysql.NameLength), !fits(&row.Queue.S, mysql.QueueLength), !fits(&row.Owner.S, mysql.NameLength):
		return mysql.TooLong
	}
	return mysql.OK
}

// fits reports whether v has at most length characters. Excess blanks at the end
// do not count: they are cut off.
func fits(v *string, length int) bool {
	if len(*v) <= length || utf8.RuneCountInString(*v) <= length {
		return true
	}
	if utf8.RuneCountInString(strings.TrimRight(*v, " ")) > length {
		return false
	}
	*v = string([]rune(*v)[:length])
	return true
}
