package model

import "github.com/lockcheck/lockcheck/internal/stores/redis"

// These are the scripts, step by step as in the Lua text of package redis.

func (s *Server) compareAndDelete(by int, c *redis.Command) redis.Reply {
	e, no, ok := s.compare(c)
	if !ok {
		return no
	}
	s.remove(by, c.Key, e)
	return integer(1)
}

func (s *Server) grant(by int, c *redis.Command) redis.Reply {
	once := *c
	once.NX = true
	r := s.set(by, &once)
	switch r.Kind {
	case redis.Error:
		return r
	case redis.Nil:
		return integer(0)
	}
	token := s.token(by, c.Counter)
	if token.Kind == redis.Error {
		s.unset(c.Key)
	}
	return token
}

func (s *Server) claim(by int, c *redis.Command) redis.Reply {
	due, ok := s.dueAfter(c)
	if !ok {
		return failure(errExpireTime)
	}
	old, had := s.find(c.Key)
	switch {
	case !had:
		return s.grant(by, c)
	case !old.isString():
		return failure(errWrongType)
	case !old.holds(c.Value):
		return integer(0)
	}
	token := s.token(by, c.Counter)
	if token.Kind == redis.Error {
		return token
	}
	old = s.entries[c.Key] // the counter may be the same key
	s.put(c.Key, entry{str: c.Value, due: due, maker: old.maker}, old, true)
	if due < old.due {
		s.effect(Shortened, c.Key, old.maker, by)
	} else {
		s.effect(Prolonged, c.Key, old.maker, by)
	}
	return token
}

func (s *Server) extend(by int, c *redis.Command) redis.Reply {
	if _, no, ok := s.compare(c); !ok {
		return no
	}
	return s.pexpire(by, c)
}

// compare is the beginning of scripts that change a key with c's value: e is that
// entry. ok is false without one, or if this server may not change it; no is
// then the answer.
func (s *Server) compare(c *redis.Command) (e entry, no redis.Reply, ok bool) {
	e, ok = s.find(c.Key)
	switch {
	case !ok:
		return e, integer(0), false
	case !e.isString():
		return e, failure(errWrongType), false
	case !e.holds(c.Value):
		return e, integer(0), false
	case s.follower:
		return e, failure(errReadOnly), false
	}
	return e, redis.Reply{}, true
}

func (s *Server) replace(by int, c *redis.Command) redis.Reply {
	due, ok := s.dueAfter(c)
	if !ok {
		return failure(errExpireTime)
	}
	old, had := s.find(c.Key)
	switch {
	case !had:
	case !old.isString():
		return failure(errWrongType)
	case !old.holds(c.Old):
		return integer(0)
	default:
		s.remove(by, c.Key, old)
	}
	s.create(by, c.Key, entry{str: c.Value, due: due})
	return integer(1)
}

// token increments counter and returns it, or 1 without a counter. Like Lua it
// converts the number to a float64.
func (s *Server) token(by int, counter string) redis.Reply {
	if counter == "" {
		return integer(1)
	}
	r := s.incr(by, counter, 1)
	r.Int = int64(float64(r.Int))
	return r
}

// unset undoes the SET that was the last effect.
func (s *Server) unset(key string) {
	s.drop(key, s.entries[key])
	s.effects = s.effects[:len(s.effects)-1]
	if s.records {
		s.writes = s.writes[:len(s.writes)-2] // the SET and its removal
	}
}
