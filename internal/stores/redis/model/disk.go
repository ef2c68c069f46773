package model

import (
	"cmp"
	"slices"
	"time"
)

// Fsync is when the server's log gets to the disk.
//
// With Everysec, Redis 7.0 starts an fsync with the first turn of its loop in
// which its clock shows another second than at the last one, a tenth of a
// second later at most; the manual promises no more than that one second of
// writes may be lost, or two where the disk is slow. Here a turn takes no time
// and the disk is quick.
type Fsync uint8

// The settings.
const (
	None     Fsync = iota // there is no log
	Everysec              // at each whole second of the server's clock
	Always                // before a command is answered
)

// change is a write that is not on the disk yet: what key held before.
type change struct {
	key string
	old entry
	had bool
}

// Crash is a power loss: memory goes, and so does what was written to the log
// and not synced. Until Restart no other method but Effects may be called.
func (s *Server) Crash(now time.Duration) {
	s.tick(now)
	told := len(s.effects)
	switch s.options.Fsync {
	case None:
		s.loseAll()
	case Everysec:
		s.undo()
	}
	s.down(told)
}

// Kill is the end of the process alone (kill -9). What it had written to the
// log is safe with the kernel, synced or not; a server without log loses all.
func (s *Server) Kill(now time.Duration) {
	s.tick(now)
	told := len(s.effects)
	if s.options.Fsync == None {
		s.loseAll()
	}
	s.down(told)
}

// down ends what lives with the process: what its replicas have not been told
// they will never be. What a follower has lost since told was only a copy.
func (s *Server) down(told int) {
	s.writes = s.writes[:0]
	if s.follower {
		s.effects, s.restored = s.effects[:told], s.restored[:0]
	}
}

// Restart brings the server up again, with what was on its disk. Expiry goes
// by the clock, so what ran out meanwhile expires now. It is in the part that
// it was in: a follower has to be brought up to date with CopyFrom, and the
// followers of a leader too.
func (s *Server) Restart(now time.Duration) {
	s.tick(now)
	for _, e := range s.restored {
		if held := s.entries[e.Key]; e.Kind == Created && held.due < s.ms {
			s.drop(e.Key, held) // it is gone again before anyone could see it
			continue
		}
		s.effects = append(s.effects, e)
	}
	s.restored = s.restored[:0]
	s.Expire(now)
	s.writes = s.writes[:0]
}

// sync forgets how to undo what is on the disk by now.
func (s *Server) sync(now time.Duration) {
	if s.options.Fsync != Everysec {
		return
	}
	if second := floor(now, time.Second); second != s.second {
		s.second = second
		s.unsynced = s.unsynced[:0]
	}
}

// record remembers what key holds before it changes.
func (s *Server) record(key string, old entry, had bool) {
	if s.options.Fsync == Everysec {
		s.unsynced = append(s.unsynced, change{key, old, had})
	}
}

func (s *Server) loseAll() {
	for _, key := range s.sorted() {
		s.effect(Lost, key, s.entries[key].maker, 0)
	}
	clear(s.entries)
	s.due = s.due[:0]
}

// undo takes every key back to what it held at the last fsync: what the first
// change to it since then replaced.
func (s *Server) undo() {
	changes := s.unsynced
	s.unsynced = nil
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.key, b.key) })
	for i, c := range changes {
		if i == 0 || changes[i-1].key != c.key {
			s.restore(c)
		}
	}
	s.unsynced = changes[:0]
}

// restore gives c's key what it held before c.
func (s *Server) restore(c change) {
	e, has := s.entries[c.key]
	same := has && c.had && e.made(c.old)
	switch {
	case same && e.due == c.old.due, !has && !c.had:
		return
	case has && !same:
		s.effect(Lost, c.key, e.maker, 0)
	}
	if !c.had {
		s.drop(c.key, e)
		return
	}
	s.put(c.key, c.old, e, has)
	kind := Created
	switch {
	case same && c.old.due < e.due:
		kind = Shortened
	case same:
		kind = Prolonged
	}
	s.restored = append(s.restored, Effect{kind, c.key, c.old.maker, 0})
}

// made tells whether e and f are one entry, but for their expiry.
func (e entry) made(f entry) bool {
	e.due = f.due
	return e == f
}

// sorted returns all keys in order; the slice is good until the next call.
func (s *Server) sorted() []string {
	s.keys = s.keys[:0]
	for key := range s.entries {
		s.keys = append(s.keys, key)
	}
	slices.Sort(s.keys)
	return s.keys
}
