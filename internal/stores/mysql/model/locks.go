package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// lock is a transaction's lock, or its request for one: on a record of an index,
// on the gap before it, or on both.
type lock struct {
	owner     *session
	index     index
	record    *record // nil: the end of the index, which has only a gap before it
	exclusive bool
	span      span
	waiting   bool
	implicit  bool // it follows from the transaction's writes and is in no list yet
}

// span is the part of the index that a lock covers.
type span uint8

const (
	recordOnly span = iota
	gapOnly
	nextKey         // both
	insertIntention // the gap, to insert: only a waiting request, which no other waits for
)

// yields reports whether l must wait for the earlier lock m.
func (l *lock) yields(m *lock) bool {
	switch {
	case l.owner == m.owner || l.index != m.index || l.record != m.record || !l.exclusive && !m.exclusive:
		return false
	case l.span != insertIntention && (l.span == gapOnly || l.record == nil):
		return false // gaps may be locked by any number of transactions
	case l.span != insertIntention && m.span == gapOnly:
		return false
	case l.span == insertIntention && m.span == recordOnly:
		return false
	}
	return m.span != insertIntention
}

// covers reports whether a transaction with l does not need m.
func (l *lock) covers(m *lock) bool {
	return l.owner == m.owner && l.index == m.index && l.record == m.record && !l.waiting &&
		(l.exclusive || !m.exclusive) && l.span != insertIntention &&
		(l.span == nextKey || l.span == m.span || l.record == nil)
}

// lock locks a record or a gap for x's transaction. It returns false if x must
// wait. A transaction with a lock on the record needs only the gap, for which it
// never waits.
func (s *Server) lock(x *session, i index, r *record, exclusive bool, sp span) bool {
	want := lock{owner: x, index: i, record: r, exclusive: exclusive, span: sp}
	if sp == nextKey && s.hasRecord(x, i, r, exclusive) {
		want.span = gapOnly
	}
	var conflict bool
	for n := range s.locks {
		l := &s.locks[n]
		if l.index != i || l.record != r {
			continue
		}
		if l.owner == x {
			if sp != insertIntention && l.covers(&want) {
				return true
			}
			continue
		}
		l.implicit = l.implicit && sp == insertIntention
		conflict = conflict || want.yields(l)
	}
	switch {
	case conflict:
		want.waiting = true
		s.locks = append(s.locks, want)
		s.startWait(x, forRecord, s.options.LockWait)
		s.breakDeadlocks(x)
		return false
	case sp != insertIntention:
		s.locks = append(s.locks, want)
	}
	return true
}

// hasRecord reports whether x's transaction has locked r itself.
func (s *Server) hasRecord(x *session, i index, r *record, exclusive bool) bool {
	want := lock{owner: x, index: i, record: r, exclusive: exclusive, span: recordOnly}
	return r != nil && slices.ContainsFunc(s.locks, func(l lock) bool { return !l.implicit && l.covers(&want) })
}

// lockImplicitly locks a record that x has written or is about to write.
func (s *Server) lockImplicitly(x *session, i index, r *record) bool {
	n := len(s.locks)
	if !s.lock(x, i, r, true, recordOnly) {
		return false
	}
	if len(s.locks) > n {
		s.locks[n].implicit = true
	}
	return true
}

// unlock releases the locks of x after the first n of all locks: READ COMMITTED
// does this for a row that does not match WHERE.
func (s *Server) unlock(x *session, n int) {
	kept := s.locks[:n]
	for _, l := range s.locks[n:] {
		if l.owner != x {
			kept = append(kept, l)
		}
	}
	s.truncate(kept)
	s.grant()
}

// release releases all locks of x.
func (s *Server) release(x *session) {
	kept := s.locks[:0]
	for _, l := range s.locks {
		if l.owner != x {
			kept = append(kept, l)
		}
	}
	if len(kept) == len(s.locks) {
		return
	}
	s.truncate(kept)
	s.grant()
}

// withdraw cancels the request that x waits for.
func (s *Server) withdraw(x *session) {
	i := slices.IndexFunc(s.locks, func(l lock) bool { return l.owner == x && l.waiting })
	s.locks = slices.Delete(s.locks, i, i+1)
	s.grant()
}

// truncate shortens s.locks to kept, which is its front part.
func (s *Server) truncate(kept []lock) {
	clear(s.locks[len(kept):])
	s.locks = kept
}

// grant grants requests that have become free, the oldest first.
func (s *Server) grant() {
	for i := range s.locks {
		if l := &s.locks[i]; l.waiting && s.blocker(i) == nil {
			l.waiting = false
			s.resume(l.owner)
		}
	}
}

// blocker returns the session that the i'th lock, a request, waits for, or nil.
func (s *Server) blocker(i int) *session {
	for j := range i {
		if s.locks[i].yields(&s.locks[j]) {
			return s.locks[j].owner
		}
	}
	return nil
}

// waitsFor returns the session that x waits for, or nil.
func (s *Server) waitsFor(x *session) *session {
	for i := range s.locks {
		if l := &s.locks[i]; l.owner == x && l.waiting {
			return s.blocker(i)
		}
	}
	return nil
}

// breakDeadlocks ends the deadlocks that contain x. In each it rolls back the
// transaction with the least weight, x in case of a tie.
func (s *Server) breakDeadlocks(x *session) {
	for x.waiting == forRecord && s.inCycle(x) {
		victim := x
		for y := s.waitsFor(x); y != x; y = s.waitsFor(y) {
			if s.weight(y) < s.weight(victim) {
				victim = y
			}
		}
		s.refuse(victim, mysql.DeadlockFound)
	}
}

// breakAllDeadlocks also ends deadlocks that no new request has caused: after a
// session is gone, its waiter may wait for another session that waits for it.
func (s *Server) breakAllDeadlocks() {
	for _, x := range s.sessions {
		s.breakDeadlocks(x)
	}
}

// inCycle reports whether x waits for itself through others.
func (s *Server) inCycle(x *session) bool {
	y := x
	for range s.sessions {
		if y = s.waitsFor(y); y == nil || y == x {
			break
		}
	}
	return y == x
}

// weight returns what a rollback of x's transaction would cost, as InnoDB counts
// it: its writes and its lists of locks. A list has all locks of the same index
// and kind. Every transaction also has the table's own list.
func (s *Server) weight(x *session) int {
	n := 1 + x.trx.undo()
	if x.command.Verb == mysql.Delete && x.placed { // counts in deadlocks only
		n++
	}
	for i, l := range s.locks {
		if l.owner != x || l.implicit {
			continue
		}
		listed := false
		for _, m := range s.locks[:i] {
			listed = listed || m.owner == x && !m.implicit && !l.waiting && !m.waiting &&
				m.index == l.index && m.exclusive == l.exclusive && m.kind() == l.kind()
		}
		if !listed {
			n++
		}
	}
	return n
}

// kind returns the span as InnoDB stores it in its lists: at the end of an index
// a gap and a record with its gap are the same.
func (l *lock) kind() span {
	if l.record == nil && l.span == gapOnly {
		return nextKey
	}
	return l.span
}

// split copies gap locks to the gap before r, a new record in index i, from the
// gap that contained it.
func (s *Server) split(i index, r, after *record) {
	for n := range s.locks {
		l := s.locks[n]
		if l.index == i && l.record == after && !l.waiting && l.span != insertIntention && l.span != recordOnly {
			s.inherit(l, r)
		}
	}
}

// vanish copies locks on r, a removed record in index i, to the gap before after.
// Waiters for r check again. Write locks of READ COMMITTED are not copied.
func (s *Server) vanish(i index, r, after *record) {
	for n := range s.locks {
		l := s.locks[n]
		if l.index == i && l.record == r && l.span != insertIntention && !l.implicit &&
			!(l.exclusive && l.owner.trx.isolation == mysql.ReadCommitted) {
			s.inherit(l, after)
		}
	}
	kept := s.locks[:0]
	for _, l := range s.locks {
		switch {
		case l.index != i || l.record != r:
			kept = append(kept, l)
		case l.waiting:
			s.resume(l.owner)
		}
	}
	s.truncate(kept)
}

// inherit gives the owner of l a similar lock on the gap before r.
func (s *Server) inherit(l lock, r *record) {
	l.record, l.span, l.waiting, l.implicit = r, gapOnly, false, false
	for n := range s.locks {
		if s.locks[n].covers(&l) {
			return
		}
	}
	s.locks = append(s.locks, l)
}
