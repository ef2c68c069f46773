package model

import (
	"cmp"
	"slices"
	"time"
)

// Fsync is when the server's log reaches the disk.
//
// With Everysec, Redis 7.0 starts an fsync in the first turn of its loop whose
// second differs from the last turn's. That is at most a tenth of a second later.
// The manual promises only that at most one second of writes is lost, or two on a
// slow disk. In the model a turn takes no time and the disk is fast.
type Fsync uint8

// The settings.
const (
	None     Fsync = iota // there is no log
	Everysec              // at each whole second of the server's clock
	Always                // before a command is answered
)

// change is a write that is not on the disk yet. It has the key's previous entry.
type change struct {
	key string
	old entry
	had bool
}

// Crash is a power loss: the server loses its memory and the part of the log that
// is not synced. Until Restart only Effects may be called.
func (s *Server) Crash(now time.Duration) {
	s.tick(now)
	told := len(s.effects)
	switch s.options.Fsync {
	case None:
		s.loseAll()
	case Everysec:
		s.undo()
	}
	s.endProcess(told)
}

// Kill ends only the process (kill -9). The kernel keeps the written log, synced
// or not. A server without a log loses everything.
func (s *Server) Kill(now time.Duration) {
	s.tick(now)
	told := len(s.effects)
	if s.options.Fsync == None {
		s.loseAll()
	}
	s.endProcess(told)
}

// endProcess ends the state of the process. Writes that its replicas have not received
// are lost. A follower's losses have no effects, because it had only copies.
func (s *Server) endProcess(told int) {
	s.writes = s.writes[:0]
	if s.follower {
		s.effects, s.restored = s.effects[:told], s.restored[:0]
	}
}

// Restart starts the server with the data on its disk. Expiry uses the clock, so
// keys whose time has passed expire now. The server keeps its role: call CopyFrom
// to update a follower, and to update the followers of a leader.
func (s *Server) Restart(now time.Duration) {
	s.tick(now)
	for _, e := range s.restored {
		if held := s.entries[e.Key]; e.Kind == Created && held.due < s.ms {
			s.drop(e.Key, held) // it expires before a client can see it
			continue
		}
		s.effects = append(s.effects, e)
	}
	s.restored = s.restored[:0]
	s.Expire(now)
	s.writes = s.writes[:0]
}

// sync drops the changes that are on the disk by now.
func (s *Server) sync(now time.Duration) {
	if s.options.Fsync != Everysec {
		return
	}
	if second := floor(now, time.Second); second != s.second {
		s.second = second
		s.unsynced = s.unsynced[:0]
	}
}

// record saves key's entry before a change.
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

// undo restores every key to its entry at the last fsync: the entry before the
// first change since then.
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

// restore undoes c.
func (s *Server) restore(c change) {
	e, has := s.entries[c.key]
	same := has && c.had && e.sameAs(c.old)
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

// sameAs reports whether e and f are the same entry, apart from their expiry.
func (e entry) sameAs(f entry) bool {
	e.due = f.due
	return e == f
}

// sorted returns all keys in order. The slice is valid until the next call.
func (s *Server) sorted() []string {
	s.keys = s.keys[:0]
	for key := range s.entries {
		s.keys = append(s.keys, key)
	}
	slices.Sort(s.keys)
	return s.keys
}
