// Package model is a Redis server as a pure state machine: the input is a command
// and the time, the output is the reply and the effects. It has no clock, network
// or randomness. The same calls always give the same answers.
//
// It supports the commands of package redis and answers as Redis 7.0 does, with
// identical error messages. The suite in package porttest compares it with the
// real server.
package model

import (
	"math"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// Options configure a server.
type Options struct {
	Fsync Fsync
	// Replicated makes Writes return the changes of a leading server.
	Replicated bool
	// Cluster lists which server has which keys; nil: this server has all of
	// them. Self is the address of this server in it.
	Cluster []SlotRange
	Self    int
	Policy  Policy
}

// Server is a Redis server that is up.
//
// The time in its methods is its wall clock, since an epoch that the caller
// chooses. It may jump, also backwards. As in Redis, expiry uses whole
// milliseconds: a key set at 0 ms for 10 ms exists until the end of millisecond
// 10.
type Server struct {
	options Options
	entries map[string]entry
	due     []deadline // one for each entry that expires, the first deadline first
	ms      int64      // the clock at the current command
	effects []Effect

	second   int64    // of the clock, at the last fsync
	unsynced []change // changes since then, with Everysec
	restored []Effect // effects of a crash that restores entries, reported after the restart
	keys     []string // scratch

	guarded  bool // some commands may be refused: refuse must check them
	follower bool
	pressed  bool    // memory is full and nothing is evicted
	records  bool    // changes become writes
	writes   []Write // since the last call of Writes
	told     []Write // the slice that this call returned
}

// entry is the value of a key.
type entry struct {
	kind  kind
	str   string // of a string, or the fields or elements as package redis joins them
	num   int64  // the number
	due   int64  // the last millisecond in which it exists
	maker int
}

// kind is a value's representation. An incremented string is a number, so that
// counting does not allocate.
type kind uint8

const (
	str kind = iota
	num
	hash
	list
	set
	zset
)

var typeNames = [...]string{str: "string", num: "string", hash: "hash", list: "list", set: "set", zset: "zset"}

// String returns the type as the server names it.
func (k kind) String() string { return typeNames[k] }

func (e entry) isString() bool { return e.kind == str || e.kind == num }

const never = math.MaxInt64 // the due of an entry that does not expire

// New returns an empty server.
func New(o Options) *Server {
	s := new(Server)
	s.Reset(o)
	return s
}

// Reset makes s a new, empty server. The zero Server may be Reset too.
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

// Apply executes c at now. by is the caller's tag of the request. The entry that
// it makes keeps the tag; 0 means the server itself.
//
// It answers Wait at once like a server without replicas. A caller with replicas
// must answer Wait itself.
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
		return s.incr(by, c.Key, 1)
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
	return s.step(now, by, &c)
}

// step executes the verbs that only package wire uses.
func (s *Server) step(now time.Duration, by int, c *redis.Command) redis.Reply {
	switch c.Verb {
	case redis.Type:
		return s.typeOf(c)
	case redis.Time:
		return integer(floor(now, time.Microsecond))
	case redis.Persist:
		return s.persist(by, c)
	case redis.IncrBy:
		return s.incr(by, c.Key, c.N)
	case redis.HGet:
		return s.hget(c)
	case redis.HSet:
		return s.hset(by, c)
	case redis.HDel:
		return s.hdel(by, c)
	case redis.HIncrBy:
		return s.hincrBy(by, c)
	case redis.HGetAll:
		return s.hgetAll(c)
	case redis.Load:
		return s.load(c)
	case redis.Store:
		return s.store(by, c)
	case redis.MayWrite, redis.MayGrow:
		return okay
	}
	return failure("ERR unknown command")
}

// tick sets the clock and does the syncs that are due.
func (s *Server) tick(now time.Duration) {
	s.ms = floor(now, time.Millisecond)
	s.sync(now)
}

// find returns the present entry of key. It removes a due key, or, on a follower,
// ignores it.
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

// put stores e under key in place of old. had reports whether old existed.
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

// drop removes key with its entry e.
func (s *Server) drop(key string, e entry) {
	s.record(key, e, true)
	if s.records {
		s.writes = append(s.writes, Write{key: key})
	}
	delete(s.entries, key)
	s.reschedule(key, e.due, never)
}

// floor returns d in whole units, rounded down.
func floor(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit < 0 {
		n--
	}
	return n
}
