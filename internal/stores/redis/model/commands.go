package model

import (
	"strconv"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// These are the server's errors, word for word.
const (
	errWrongType  = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errExpireTime = "ERR invalid expire time in 'set' command"
	errNotInteger = "ERR value is not an integer or out of range"
	errOverflow   = "ERR increment or decrement would overflow"
	errTimeout    = "ERR timeout is negative"
)

func failure(message string) redis.Reply { return redis.Reply{Kind: redis.Error, Str: message} }
func integer(n int64) redis.Reply        { return redis.Reply{Kind: redis.Int, Int: n} }

var okay = redis.Reply{Kind: redis.Status, Str: "OK"}

func (s *Server) get(c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	switch {
	case !ok:
		return redis.Reply{}
	case !e.isString():
		return failure(errWrongType)
	}
	return redis.Reply{Kind: redis.Bulk, Str: e.text()}
}

func (s *Server) set(by int, c *redis.Command) redis.Reply {
	due, ok := s.dueAfter(c)
	if !ok {
		return failure(errExpireTime)
	}
	old, had := s.find(c.Key)
	if had && c.NX {
		return redis.Reply{}
	}
	if had && c.KeepTTL {
		due = old.due
	}
	s.put(c.Key, entry{str: c.Value, due: due, maker: by}, old, had)
	if had {
		s.effect(Overwritten, c.Key, old.maker, by)
	} else {
		s.effect(Created, c.Key, by, by)
	}
	return okay
}

func (s *Server) setNX(by int, c *redis.Command) redis.Reply {
	if _, had := s.find(c.Key); had {
		return integer(0)
	}
	s.create(by, c.Key, entry{str: c.Value, due: never})
	return integer(1)
}

func (s *Server) getSet(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	switch {
	case !had:
		s.create(by, c.Key, entry{str: c.Value, due: never})
		return redis.Reply{}
	case !old.isString():
		return failure(errWrongType)
	}
	s.put(c.Key, entry{str: c.Value, due: never, maker: by}, old, had)
	s.effect(Overwritten, c.Key, old.maker, by)
	return redis.Reply{Kind: redis.Bulk, Str: old.text()}
}

func (s *Server) pexpire(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if !had {
		return integer(0)
	}
	ttl := c.Millis()
	if ttl <= 0 {
		s.remove(by, c.Key, old)
		return integer(1)
	}
	e := old
	e.due = s.ms + ttl
	s.put(c.Key, e, old, had)
	switch {
	case e.due < old.due:
		s.effect(Shortened, c.Key, e.maker, by)
	case e.due > old.due:
		s.effect(Prolonged, c.Key, e.maker, by)
	}
	return integer(1)
}

func (s *Server) pttl(c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	switch {
	case !ok:
		return integer(-2)
	case e.due == never:
		return integer(-1)
	}
	return integer(e.due - s.ms)
}

func (s *Server) del(by int, c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	if !ok {
		return integer(0)
	}
	s.remove(by, c.Key, e)
	return integer(1)
}

// incr adds by's increment to key. The entry then belongs to by, because a crash
// would lose that increment.
func (s *Server) incr(by int, key string, increment int64) redis.Reply {
	old, had := s.find(key)
	if !had {
		s.create(by, key, entry{kind: num, num: increment, due: never})
		return integer(increment)
	}
	n, err := old.number()
	if err != "" {
		return failure(err)
	}
	n, ok := add(n, increment)
	if !ok {
		return failure(errOverflow)
	}
	s.put(key, entry{kind: num, num: n, due: old.due, maker: by}, old, had)
	return integer(n)
}

// add returns a + b. It returns false if that overflows.
func add(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

func (s *Server) wait(c *redis.Command) redis.Reply {
	if c.Millis() < 0 {
		return failure(errTimeout)
	}
	return integer(0)
}

func (s *Server) persist(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if !had || old.due == never {
		return integer(0)
	}
	e := old
	e.due = never
	s.put(c.Key, e, old, had)
	s.effect(Prolonged, c.Key, e.maker, by)
	return integer(1)
}

func (s *Server) typeOf(c *redis.Command) redis.Reply {
	name := "none"
	if e, ok := s.find(c.Key); ok {
		name = e.kind.String()
	}
	return redis.Reply{Kind: redis.Status, Str: name}
}

// create stores e under key, which holds nothing.
func (s *Server) create(by int, key string, e entry) {
	e.maker = by
	s.put(key, e, entry{}, false)
	s.effect(Created, key, by, by)
}

// remove removes key with its entry e.
func (s *Server) remove(by int, key string, e entry) {
	s.drop(key, e)
	s.effect(Removed, key, e.maker, by)
}

// dueAfter returns when a key that c sets expires. It returns false for an
// invalid TTL.
func (s *Server) dueAfter(c *redis.Command) (due int64, ok bool) {
	switch {
	case c.TTL == 0:
		return never, true
	case c.Millis() <= 0:
		return 0, false
	}
	return s.ms + c.Millis(), true
}

// text returns the value of a string.
func (e entry) text() string {
	if e.kind == num {
		return strconv.FormatInt(e.num, 10)
	}
	return e.str
}

// holds reports whether e is a string with that value.
func (e entry) holds(value string) bool {
	if e.kind == num {
		n, ok := parse(value)
		return ok && n == e.num
	}
	return e.str == value
}

// number returns the value as INCR reads it, or the server's error.
func (e entry) number() (n int64, err string) {
	switch {
	case !e.isString():
		return 0, errWrongType
	case e.kind == num:
		return e.num, ""
	}
	n, ok := parse(e.str)
	if !ok {
		return 0, errNotInteger
	}
	return n, ""
}

// parse reads a number in exactly the server's format: no sign but a minus, no
// leading zero, no other characters.
func parse(s string) (n int64, ok bool) {
	digits := s
	if len(s) > 0 && s[0] == '-' {
		digits = s[1:]
	}
	switch {
	case len(digits) == 0 || len(s) > len("-9223372036854775808"):
		return 0, false
	case digits[0] == '0':
		return 0, s == "0"
	case digits[0] < '1' || digits[0] > '9':
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false // before ParseInt, which would allocate its error
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
