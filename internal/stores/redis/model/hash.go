package model

import (
	"strconv"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

const errHashNumber = "ERR hash value is not an integer"

// A change of one field is a change of a part of an entry, so the entry keeps its
// maker: a lock that counts its holder's entries does not change hands. Only a new
// value in place of another one takes the entry over (HSet).

func (s *Server) hget(c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	if ok && e.kind != hash {
		return failure(errWrongType)
	}
	value, ok := e.field(c.Field)
	if !ok {
		return redis.Reply{}
	}
	return redis.Reply{Kind: redis.Bulk, Str: value}
}

func (s *Server) hgetAll(c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	if ok && e.kind != hash {
		return failure(errWrongType)
	}
	return redis.Reply{Kind: redis.Bulk, Str: e.str}
}

// hset sets one field and returns 1 if it is new.
func (s *Server) hset(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if had && old.kind != hash {
		return failure(errWrongType)
	}
	value, known := old.field(c.Field)
	maker := old.maker
	replaces := known && value != c.Value
	if replaces {
		maker = by
	}
	s.setField(by, c, c.Value, old, had, maker)
	if replaces {
		s.effect(Overwritten, c.Key, old.maker, by)
	}
	if known {
		return integer(0)
	}
	return integer(1)
}

func (s *Server) hincrBy(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if had && old.kind != hash {
		return failure(errWrongType)
	}
	n, valid := int64(0), true
	if value, known := old.field(c.Field); known {
		n, valid = parse(value)
	}
	if !valid {
		return failure(errHashNumber)
	}
	n, ok := add(n, c.N)
	if !ok {
		return failure(errOverflow)
	}
	s.setField(by, c, strconv.FormatInt(n, 10), old, had, old.maker)
	return integer(n)
}

// hdel removes one field, and the key with its last one.
func (s *Server) hdel(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if had && old.kind != hash {
		return failure(errWrongType)
	}
	if _, known := old.field(c.Field); !known {
		return integer(0)
	}
	var left []byte
	for field, value := range redis.Fields(old.str) {
		if field != c.Field {
			left = redis.AppendField(left, field, value)
		}
	}
	if len(left) == 0 {
		s.remove(by, c.Key, old)
		return integer(1)
	}
	e := old
	e.str = string(left)
	s.put(c.Key, e, old, had)
	return integer(1)
}

// setField sets c's field of c's key to value. If the key exists, old is its entry,
// and maker is the maker of the new one.
func (s *Server) setField(by int, c *redis.Command, value string, old entry, had bool, maker int) {
	var joined []byte
	known := false
	for f, v := range redis.Fields(old.str) {
		if f == c.Field {
			v, known = value, true
		}
		joined = redis.AppendField(joined, f, v)
	}
	if !known {
		joined = redis.AppendField(joined, c.Field, value)
	}
	if !had {
		s.create(by, c.Key, entry{kind: hash, str: string(joined), due: never})
		return
	}
	s.put(c.Key, entry{kind: hash, str: string(joined), due: old.due, maker: maker}, old, had)
}

// field returns the value of a field of a hash.
func (e entry) field(name string) (value string, ok bool) {
	for f, v := range redis.Fields(e.str) {
		if f == name {
			return v, true
		}
	}
	return "", false
}
