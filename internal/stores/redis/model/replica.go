package model

import (
	"fmt"
	"time"
)

// Write is one effect of a leader's on one key, as its followers get it: what
// the key holds from now on, or that it holds nothing. Expiry is absolute, and
// the tag of the maker goes with it.
type Write struct {
	key   string
	entry entry
	there bool
}

func (w Write) String() string {
	switch {
	case !w.there:
		return fmt.Sprintf("del %q", w.key)
	case w.entry.due == never:
		return fmt.Sprintf("set %q to %s, by %d", w.key, w.entry, w.entry.maker)
	}
	return fmt.Sprintf("set %q to %s until %d ms, by %d", w.key, w.entry, w.entry.due, w.entry.maker)
}

func (e entry) String() string {
	if e.kind == list {
		return fmt.Sprintf("a list of %d", e.num)
	}
	return fmt.Sprintf("%q", e.text())
}

// Writes returns what this server has done to its keys since it was last
// called, in order: requests, expiries and evictions, while it led. The slice
// is good until the next call of Writes. Options.Replicated has to be set; who
// never calls Writes then lets it grow.
//
// What one command did reaches a replica of Redis in one piece: whoever calls
// Writes after each command should carry the slice so.
func (s *Server) Writes() []Write {
	w := s.writes
	s.writes, s.told = s.told[:0], w
	return w
}

// Follow makes s a replica: it answers reads by what its leader told it, and
// refuses writes. It expires nothing: a key that is due reads as missing, and
// stays until the leader's deletion comes.
func (s *Server) Follow() {
	s.follower = true
	s.role()
}

// Lead makes s a leader, with what it holds, as REPLICAOF NO ONE does. From
// now on it expires keys by its own clock: what is due by that goes at once.
func (s *Server) Lead(now time.Duration) {
	s.follower = false
	s.role()
	s.Expire(now)
}

// role sets what follows from the options and the part that s plays.
func (s *Server) role() {
	s.records = s.options.Replicated && !s.follower
	s.guarded = s.follower || s.pressed || len(s.options.Cluster) > 0
}

// Replicate has a follower take in a write of its leader's. It has no Effects.
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

// CopyFrom is a full synchronisation: s holds exactly what from holds. An
// entry of s that from does not hold, or that another request has made there,
// is Lost; what s gains by it has no Effects.
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

// Entries yields each key that s holds, in order, and the tag of the request
// that made its entry. What is due has been left out by a leader, but not yet
// by a follower.
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
