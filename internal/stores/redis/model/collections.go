package model

import "github.com/lockcheck/lockcheck/internal/stores/redis"

// kindsOf are the kinds of collections. An entry keeps its maker, as a hash does, when its
// elements change.
var kindsOf = [...]kind{redis.List: list, redis.UnorderedSet: set, redis.SortedSet: zset}

func (s *Server) load(c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	switch {
	case !ok:
		return redis.Reply{}
	case e.kind != kindsOf[c.Of]:
		return failure(errWrongType)
	}
	return redis.Reply{Kind: redis.Bulk, Str: e.str}
}

func (s *Server) store(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	switch {
	case had && old.kind != kindsOf[c.Of]:
		return failure(errWrongType)
	case c.Value == "" && had:
		s.remove(by, c.Key, old)
	case c.Value == "":
	case had:
		s.put(c.Key, entry{kind: old.kind, str: c.Value, due: old.due, maker: old.maker}, old, had)
	default:
		s.create(by, c.Key, entry{kind: kindsOf[c.Of], str: c.Value, due: never})
	}
	return okay
}

// rpush appends an element to a list. The entry then belongs to by, because a crash would
// lose that element.
func (s *Server) rpush(by int, c *redis.Command) redis.Reply {
	old, had := s.find(c.Key)
	if had && old.kind != list {
		return failure(errWrongType)
	}
	elements := string(redis.AppendField([]byte(old.str), c.Value, ""))
	if had {
		s.put(c.Key, entry{kind: list, str: elements, due: old.due, maker: by}, old, had)
	} else {
		s.create(by, c.Key, entry{kind: list, str: elements, due: never})
	}
	return integer(size(elements))
}

// size returns the number of fields or elements.
func size(joined string) (n int64) {
	for range redis.Fields(joined) {
		n++
	}
	return n
}
