// Package model is a Redis server as a pure state machine: a command and the
// time go in, the reply and what took effect come out. It has no clock, no
// network and no randomness, and the same calls always give the same answers.
//
// It knows the commands of package redis and answers as Redis 7.0 does, errors
// to the letter. The suite in package porttest holds it to the real server.
package model

import (
	"math"
	"time"

	"github.com/lockcheck/lockcheck/stores/redis"
)

// Options is how a server is configured.
type Options struct {
	Fsync Fsync
	// Replicated has Writes tell replicas what this server does while it leads.
	Replicated bool
	// Cluster is who serves which keys; nil: this server serves all. Self is
	// the element of it that is this server.
	Cluster []SlotRange
	Self    int
	Policy  Policy
}

// Server is a Redis server that is up.
//
// The time that its methods take is its wall clock, as the time since an epoch
// that the caller chooses. It may jump, backwards too. As in Redis, expiry
// knows whole milliseconds only: a key set at 0 ms for 10 ms is there until
// the end of millisecond 10.
type Server struct {
	options Options
	entries map[string]entry
	due     []deadline // one for each entry that expires, the next one first
	ms      int64      // the clock at the current command
	effects []Effect

	second   int64    // of the clock, at the last fsync
	unsynced []change // since then, with Everysec
	restored []Effect // what a crash brings back, told when the server is up again
	keys     []string // scratch

	guarded  bool // not every command is executed: refuse has to look at it
	follower bool
	pressed  bool    // no memory is left, and none is made room for
	records  bool    // changes become writes
	writes   []Write // since the last call of Writes
	told     []Write // what that one returned
}

// entry is what a key holds.
type entry struct {
	kind  kind
	str   string
	num   int64 // the number, or the length of the list
	due   int64 // the last millisecond in which it is there
	maker int
}

// kind is how a value is kept. A string that was counted up is a number, so
// that counting allocates nothing; of a list no command reads more than its length.
type kind uint8

const (
	str kind = iota
	num
	list
)

const never = math.MaxInt64 // the due of an entry that does not expire

// New returns an empty server.
func New(o Options) *Server {
	s := new(Server)
	s.Reset(o)
	return s
}

// Reset makes s a new, empty server; the zero Server may be Reset too.
func (s *Server) Reset(o Options) {
	*s = Server{
		options: o,
		entries: s.entries, due: s.due[:0], effects: s.effects[:0],
		unsynced: s.unsynced[:0], restored: s.restored[:0], keys: s.keys[:0],
		writes: s.writes[:0], told: s.told[:0],
	}
	s.role()
	if s.entries == nil {
		s.entries = make(map[string]entry)
	}
	clear(s.entries)
}

// Apply executes c at now. by is the caller's tag of the request, which the
// entry that it makes keeps; 0 stands for the server itself.
//
// Of Wait it knows only what a server without replicas says, and says it at
// once: what takes time is the caller's to answer.
func (s *Server) Apply(now time.Duration, by int, c redis.Command) redis.Reply {
	s.tick(now)
	if s.guarded {
		if r, refused := s.refuse(&c); refused {
			return r
		}
	}
	switch c.Verb {
	case redis.Get:
		return s.get(&c)
	case redis.Set:
		return s.set(by, &c)
	case redis.SetNX:
		return s.setNX(by, &c)
	case redis.GetSet:
		return s.getSet(by, &c)
	case redis.PExpire:
		return s.pexpire(by, &c)
	case redis.PTTL:
		return s.pttl(&c)
	case redis.Del:
		return s.del(by, &c)
	case redis.Incr:
		return s.incr(by, c.Key)
	case redis.RPush:
		return s.rpush(by, &c)
	case redis.Wait:
		return s.wait(&c)
	case redis.CompareAndDelete:
		return s.compareAndDelete(by, &c)
	case redis.Grant:
		return s.grant(by, &c)
	case redis.Claim:
		return s.claim(by, &c)
	case redis.Extend:
		return s.extend(by, &c)
	case redis.Replace:
		return s.replace(by, &c)
	}
	return failure("ERR unknown command")
}

// tick sets the clock, and syncs what the time has come for.
func (s *Server) tick(now time.Duration) {
	s.ms = floor(now, time.Millisecond)
	s.sync(now)
}

// find returns what key holds now. A key that is due is removed on the way,
// or, by a follower, only passed over.
func (s *Server) find(key string) (entry, bool) {
	e, ok := s.entries[key]
	if ok && e.due < s.ms {
		if !s.follower {
			s.expire(key, e)
		}
		return entry{}, false
	}
	return e, ok
}

// put gives key e in place of old (had: whether there was one).
func (s *Server) put(key string, e, old entry, had bool) {
	s.record(key, old, had)
	if s.records {
		s.writes = append(s.writes, Write{key: key, entry: e, there: true})
	}
	s.entries[key] = e
	if !had {
		old.due = never
	}
	s.reschedule(key, old.due, e.due)
}

// drop removes key, which holds e.
func (s *Server) drop(key string, e entry) {
	s.record(key, e, true)
	if s.records {
		s.writes = append(s.writes, Write{key: key})
	}
	delete(s.entries, key)
	s.reschedule(key, e.due, never)
}

// floor is d in whole units, rounded down.
func floor(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit < 0 {
		n--
	}
	return n
}
