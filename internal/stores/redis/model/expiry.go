package model

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// deadline is when an entry expires. Deadlines are ordered by time and then by
// key, so that the order of simultaneous ones is always the same.
type deadline struct {
	due int64
	key string
}

func (d deadline) compare(e deadline) int {
	if c := cmp.Compare(d.due, e.due); c != 0 {
		return c
	}
	return cmp.Compare(d.key, e.key)
}

// Expire removes every key that is due at now. The server does this from time to
// time; commands never see a due key in any case. A follower removes none.
func (s *Server) Expire(now time.Duration) {
	s.tick(now)
	if s.follower {
		return
	}
	for len(s.due) > 0 && s.due[0].due < s.ms {
		key := s.due[0].key
		s.expire(key, s.entries[key])
	}
}

// NextExpiry returns the first instant at which Expire would remove a key, as far
// as is known now. It returns false without one, or none that fits a
// time.Duration.
func (s *Server) NextExpiry() (time.Duration, bool) {
	if s.follower || len(s.due) == 0 || s.due[0].due >= math.MaxInt64/int64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(s.due[0].due+1) * time.Millisecond, true
}

// expire removes the due entry e.
func (s *Server) expire(key string, e entry) {
	s.drop(key, e)
	s.effect(Expired, key, e.maker, 0)
}

// reschedule changes the deadline of key.
func (s *Server) reschedule(key string, from, to int64) {
	if from == to {
		return
	}
	if from != never {
		i, _ := slices.BinarySearchFunc(s.due, deadline{from, key}, deadline.compare)
		s.due = slices.Delete(s.due, i, i+1)
	}
	if to != never {
		d := deadline{to, key}
		i, _ := slices.BinarySearchFunc(s.due, d, deadline.compare)
		s.due = slices.Insert(s.due, i, d)
	}
}

// Due returns when the entry of key ends, by the wall clock; false: it does not end, or
// there is none.
func (s *Server) Due(key string) (time.Duration, bool) {
	e, ok := s.entries[key]
	return time.Duration(e.due) * time.Millisecond, ok && e.due != never
}
