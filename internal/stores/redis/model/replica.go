package model

import (
	"fmt"
	"time"
)

// Write is one effect of a leader on one key, for its followers: the key's new
// entry, or its removal. Expiry is absolute, and the maker's tag is included.
type Write struct {
	key   string
	entry entry
	there bool
}

func (w Write) String() string {
	switch {
	case !w.there:
		return w.What()
	case w.entry.due == never:
		return fmt.Sprintf("%s, by %d", w.What(), w.entry.maker)
	}
	return fmt.Sprintf("%s until %d ms, by %d", w.What(), w.entry.due, w.entry.maker)
}

// What returns the key and its new value.
func (w Write) What() string {
	if !w.there {
		return fmt.Sprintf("del %q", w.key)
	}
	return fmt.Sprintf("set %q to %s", w.key, w.entry)
}

func (e entry) String() string {
	switch e.kind {
	case list:
		return fmt.Sprintf("a list of %d", size(e.str))
	case set, zset:
		return fmt.Sprintf("a %s of %q", e.kind, e.str)
	case hash:
		return fmt.Sprintf("a hash of %q", e.str)
	}
	return fmt.Sprintf("%q", e.text())
}

// Writes returns this server's changes to its keys as a leader since the last
// call, in order: requests, expiries and evictions. The slice is valid until the
// next call of Writes. It needs Options.Replicated; without calls it then grows.
//
// A replica of Redis receives the changes of one command together: callers should
// pass on the slice after each command.
func (s *Server) Writes() []Write {
	w := s.writes
	s.writes, s.told = s.told[:0], w
	return w
}

// Follow makes s a replica: it answers reads with its leader's data and refuses
// writes. It does not expire keys: a due key reads as missing, and stays until
// the leader's deletion arrives.
func (s *Server) Follow() {
	s.follower = true
	s.role()
}

// Lead makes s a leader with its present data, like REPLICAOF NO ONE. From now on
// keys expire by its own clock: due keys are removed at once.
func (s *Server) Lead(now time.Duration) {
	s.follower = false
	s.role()
	s.Expire(now)
}

// role sets the fields that follow from the options and the role.
func (s *Server) role() {
	s.records = s.options.Replicated && !s.follower
	s.guarded = s.follower || s.pressed || len(s.options.Cluster) > 0
}

// Replicate applies a leader's write to a follower. It has no Effects.
func (s *Server) Replicate(now time.Duration, w Write) {
	s.tick(now)
	old, had := s.entries[w.key]
	switch {
	case w.there:
		s.put(w.key, w.entry, old, had)
	case had:
		s.drop(w.key, old)
	}
}

// CopyFrom is a full synchronisation: s gets exactly the data of from. An entry
// of s is Lost if from lacks it or has it from another request. New entries in s
// have no Effects.
func (s *Server) CopyFrom(now time.Duration, from *Server) {
	s.tick(now)
	for _, key := range s.sorted() {
		old := s.entries[key]
		e, there := from.entries[key]
		if !there || e.maker != old.maker {
			s.effect(Lost, key, old.maker, 0)
		}
		if !there {
			s.drop(key, old)
		}
	}
	for _, key := range from.sorted() {
		e := from.entries[key]
		if old, had := s.entries[key]; !had || old != e {
			s.put(key, e, old, had)
		}
	}
}

// Entries yields each key of s, in order, and the tag of the request that made
// its entry. A leader leaves out due keys, a follower does not.
func (s *Server) Entries(yield func(key string, maker int) bool) {
	for _, key := range s.sorted() {
		e := s.entries[key]
		if e.due < s.ms && !s.follower {
			continue
		}
		if !yield(key, e.maker) {
			return
		}
	}
}
