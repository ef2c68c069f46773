package model

import "github.com/lockcheck/lockcheck/stores/redis"

// The scripts, step by step as the Lua text in package redis has them.

func (s *Server) compareAndDelete(by int, c *redis.Command) redis.Reply {
	e, ok := s.find(c.Key)
	switch {
	case !ok:
		return integer(0)
	case e.kind == list:
		return failure(errWrongType)
	case !e.holds(c.Value):
		return integer(0)
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
	case old.kind == list:
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

// token counts counter up; without a counter it is 1. It is the float64 that
// Lua makes of it.
func (s *Server) token(by int, counter string) redis.Reply {
	if counter == "" {
		return integer(1)
	}
	r := s.incr(by, counter)
	r.Int = int64(float64(r.Int))
	return r
}

// unset takes back the SET that was the last thing to take effect.
func (s *Server) unset(key string) {
	s.drop(key, s.entries[key])
	s.effects = s.effects[:len(s.effects)-1]
}
