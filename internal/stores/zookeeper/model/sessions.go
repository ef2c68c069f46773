package model

import (
	"cmp"
	"slices"
	"time"
)

// deadline is the millisecond in which a session expires. Simultaneous ones
// expire in the order of their numbers.
type deadline struct {
	due     int64
	session int64
}

func (d deadline) compare(e deadline) int {
	return cmp.Or(cmp.Compare(d.due, e.due), cmp.Compare(d.session, e.session))
}

// Open opens a session of the requested length, but at least 2 and at most 20
// ticks. The transaction has its number and the granted length.
func (l *Leader) Open(now time.Duration, by int, timeout time.Duration) Txn {
	granted := min(max(timeout.Milliseconds(), 2*l.tick), 20*l.tick)
	t := l.enact(Txn{
		Kind: Opening, By: by,
		Session: l.last + 1, // its zxid: unique for every leader
		Timeout: time.Duration(granted) * time.Millisecond,
	})
	l.track(now, t.Session)
	return t
}

// Touch is a sign of life of session at a member. False means that the session
// has ended.
func (l *Leader) Touch(now time.Duration, session int64) bool {
	if !l.alive(now, session) {
		return false
	}
	if s := l.tree.sessions[session]; s.due != l.expiry(now, s.timeout) {
		l.untrack(session)
		l.track(now, session)
	}
	return true
}

// Close ends session at the client's request. False means that it has already
// ended.
func (l *Leader) Close(now time.Duration, session int64, by int) (Txn, bool) {
	if !l.alive(now, session) {
		return Txn{}, false
	}
	l.untrack(session)
	return l.enact(Txn{Kind: Closing, By: by, Session: session}), true
}

// Expire ends the sessions whose time is over at now. The slice is valid until
// the next call.
func (l *Leader) Expire(now time.Duration) []Txn {
	l.ended = l.ended[:0]
	for len(l.due) > 0 && l.due[0].due <= millisecond(now) {
		session := l.due[0].session
		l.untrack(session)
		l.ended = append(l.ended, l.enact(Txn{Kind: Closing, Session: session}))
	}
	return l.ended
}

// NextExpiry returns the first instant at which Expire would end a session, as
// far as is known now. It returns false without one.
func (l *Leader) NextExpiry() (time.Duration, bool) {
	if len(l.due) == 0 {
		return 0, false
	}
	return time.Duration(l.due[0].due) * time.Millisecond, true
}

// alive reports whether session is open and not due.
func (l *Leader) alive(now time.Duration, session int64) bool {
	s := l.tree.sessions[session]
	return s != nil && millisecond(now) < s.due
}

// expiry returns the millisecond in which a session with a sign of life now
// expires: the first tick after its timeout.
func (l *Leader) expiry(now, timeout time.Duration) int64 {
	return ((millisecond(now)+timeout.Milliseconds())/l.tick + 1) * l.tick
}

func (l *Leader) track(now time.Duration, session int64) {
	s := l.tree.sessions[session]
	s.due = l.expiry(now, s.timeout)
	d := deadline{s.due, session}
	i, _ := slices.BinarySearchFunc(l.due, d, deadline.compare)
	l.due = slices.Insert(l.due, i, d)
}

func (l *Leader) untrack(session int64) {
	d := deadline{l.tree.sessions[session].due, session}
	i, _ := slices.BinarySearchFunc(l.due, d, deadline.compare)
	l.due = slices.Delete(l.due, i, i+1)
}

// millisecond returns the clock in milliseconds.
func millisecond(now time.Duration) int64 { return now.Milliseconds() }
