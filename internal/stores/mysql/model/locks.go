package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// lock is a transaction's, on a record of an index, or on the gap before it, or
// on both; or what it waits for.
type lock struct {
	of        *session
	index     index
	record    *record // nil: the end of the index, of which there is only the gap before
	exclusive bool
	span      span
	waiting   bool
	implicit  bool // it is in what the transaction has written, and in no list yet
}

// span is what a lock is on.
type span uint8

const (
	recordOnly span = iota
	gapOnly
	nextKey         // both
	insertIntention // the gap, where something is to be put: it only waits, and nobody waits for it
)

// yields tells whether l has to wait as long as there is m, which was there
// before.
func (l *lock) yields(m *lock) bool {
	switch {
	case l.of == m.of || l.index != m.index || l.record != m.record || !l.exclusive && !m.exclusive:
		return false
	case l.span != insertIntention && (l.span == gapOnly || l.record == nil):
		return false // gaps may be locked by any number
	case l.span != insertIntention && m.span == gapOnly:
		return false
	case l.span == insertIntention && m.span == recordOnly:
		return false
	}
	return m.span != insertIntention
}

// covers tells whether who has l needs no m.
func (l *lock) covers(m *lock) bool {
	return l.of == m.of && l.index == m.index && l.record == m.record && !l.waiting &&
		(l.exclusive || !m.exclusive) && l.span != insertIntention &&
		(l.span == nextKey || l.span == m.span || l.record == nil)
}

// lock has x's transaction lock what span says, or wait for it: false. Who has
// locked the record already needs the gap alone, which nobody has to wait for.
func (s *Server) lock(x *session, i index, r *record, exclusive bool, sp span) bool {
	want := lock{of: x, index: i, record: r, exclusive: exclusive, span: sp}
	if sp == nextKey && s.hasRecord(x, i, r, exclusive) {
		want.span = gapOnly
	}
	var conflict bool
	for n := range s.locks {
		l := &s.locks[n]
		if l.index != i || l.record != r {
			continue
		}
		if l.of == x {
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
		s.waits(x, forRecord, s.options.LockWait)
		s.breakDeadlocks(x)
		return false
	case sp != insertIntention:
		s.locks = append(s.locks, want)
	}
	return true
}

// hasRecord tells whether x's transaction has locked r itself.
func (s *Server) hasRecord(x *session, i index, r *record, exclusive bool) bool {
	want := lock{of: x, index: i, record: r, exclusive: exclusive, span: recordOnly}
	return r != nil && slices.ContainsFunc(s.locks, func(l lock) bool { return !l.implicit && l.covers(&want) })
}

// lockImplicitly is lock of what x has written, or is about to.
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

// unlock gives back the locks that came after the first n, as far as they are
// x's: READ COMMITTED does so with what WHERE turned out not to describe.
func (s *Server) unlock(x *session, n int) {
	kept := s.locks[:n]
	for _, l := range s.locks[n:] {
		if l.of != x {
			kept = append(kept, l)
		}
	}
	s.truncate(kept)
	s.grant()
}

// release gives back all locks of x.
func (s *Server) release(x *session) {
	kept := s.locks[:0]
	for _, l := range s.locks {
		if l.of != x {
			kept = append(kept, l)
		}
	}
	if len(kept) == len(s.locks) {
		return
	}
	s.truncate(kept)
	s.grant()
}

// withdraw takes back the request that x waits for.
func (s *Server) withdraw(x *session) {
	i := slices.IndexFunc(s.locks, func(l lock) bool { return l.of == x && l.waiting })
	s.locks = slices.Delete(s.locks, i, i+1)
	s.grant()
}

// truncate makes kept, which is the front of s.locks, all of it.
func (s *Server) truncate(kept []lock) {
	clear(s.locks[len(kept):])
	s.locks = kept
}

// grant gives what is free now to those who wait for it, the first one first.
func (s *Server) grant() {
	for i := range s.locks {
		if l := &s.locks[i]; l.waiting && s.blocker(i) == nil {
			l.waiting = false
			s.goesOn(l.of)
		}
	}
}

// blocker is whom the i'th lock, which waits, waits for; nil: nobody any more.
func (s *Server) blocker(i int) *session {
	for j := range i {
		if s.locks[i].yields(&s.locks[j]) {
			return s.locks[j].of
		}
	}
	return nil
}

// waitsFor is whom x waits for; nil: nobody.
func (s *Server) waitsFor(x *session) *session {
	for i := range s.locks {
		if l := &s.locks[i]; l.of == x && l.waiting {
			return s.blocker(i)
		}
	}
	return nil
}

// breakDeadlocks ends the deadlocks that x is in: of each, the transaction that weighs least is rolled back, x if it is none of
// the others.
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

// breakAllDeadlocks ends those, too, that nobody has completed by a request: who
// waited for one that is gone now waits for another, who waits for him.
func (s *Server) breakAllDeadlocks() {
	for _, x := range s.sessions {
		s.breakDeadlocks(x)
	}
}

// inCycle tells whether x waits for itself in the end.
func (s *Server) inCycle(x *session) bool {
	y := x
	for range s.sessions {
		if y = s.waitsFor(y); y == nil || y == x {
			break
		}
	}
	return y == x
}

// weight is how much would be lost with x's transaction, as InnoDB counts it:
// what it has written, and its lists of locks. One list has all that are of the
// same index and kind; the table's own is in each transaction.
func (s *Server) weight(x *session) int {
	n := 1 + x.trx.undo()
	if x.command.Verb == mysql.Delete && x.placed { // in a deadlock it counts; nobody else sees it
		n++
	}
	for i, l := range s.locks {
		if l.of != x || l.implicit {
			continue
		}
		listed := false
		for _, m := range s.locks[:i] {
			listed = listed || m.of == x && !m.implicit && !l.waiting && !m.waiting &&
				m.index == l.index && m.exclusive == l.exclusive && m.kind() == l.kind()
		}
		if !listed {
			n++
		}
	}
	return n
}

// kind is the span as InnoDB has it in its lists: at the end of an index it makes
// no difference between a gap and a record with its gap.
func (l *lock) kind() span {
	if l.record == nil && l.span == gapOnly {
		return nextKey
	}
	return l.span
}

// split has the gap before r, which is new in index i, be locked by all that
// had locked the gap that it is in.
func (s *Server) split(i index, r, after *record) {
	for n := range s.locks {
		l := s.locks[n]
		if l.index == i && l.record == after && !l.waiting && l.span != insertIntention && l.span != recordOnly {
			s.inherit(l, r)
		}
	}
}

// vanish has the gap before after, in which r was, be locked by all that had
// locked r in index i; who waited for it looks again. What READ COMMITTED locks
// to write is not inherited.
func (s *Server) vanish(i index, r, after *record) {
	for n := range s.locks {
		l := s.locks[n]
		if l.index == i && l.record == r && l.span != insertIntention && !l.implicit &&
			!(l.exclusive && l.of.trx.isolation == mysql.ReadCommitted) {
			s.inherit(l, after)
		}
	}
	kept := s.locks[:0]
	for _, l := range s.locks {
		switch {
		case l.index != i || l.record != r:
			kept = append(kept, l)
		case l.waiting:
			s.goesOn(l.of)
		}
	}
	s.truncate(kept)
}

// inherit gives the owner of l a lock like it on the gap before r.
func (s *Server) inherit(l lock, r *record) {
	l.record, l.span, l.waiting, l.implicit = r, gapOnly, false, false
	for n := range s.locks {
		if s.locks[n].covers(&l) {
			return
		}
	}
	s.locks = append(s.locks, l)
}
