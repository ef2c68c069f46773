package model

import "time"

// Policy is what a server gives up when its memory is full, its
// maxmemory-policy.
type Policy uint8

// The policies. That the least recently used keys go first is not modelled:
// under pressure all go that may.
const (
	VolatileLRU Policy = iota // the keys that expire
	AllKeys                   // any key
	NoEviction                // none: commands that need memory are refused
)

var policyNames = [...]string{VolatileLRU: "volatile-lru", AllKeys: "allkeys-lru", NoEviction: "noeviction"}

// String is the policy as Redis' configuration names it.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return "unknown"
}

// Evict is memory pressure: by NoEviction, until Relieve commands that need
// memory are refused; by the other policies all keys that the policy allows are
// evicted at once, which is taken to be enough. A follower evicts nothing and
// refuses nothing for it: it leaves both to its leader.
func (s *Server) Evict(now time.Duration) {
	s.Expire(now)
	switch {
	case s.options.Policy == NoEviction:
		s.pressed = true
		s.role()
		return
	case s.follower:
		return
	}
	for _, key := range s.sorted() {
		e := s.entries[key]
		if s.options.Policy == AllKeys || e.due != never {
			s.drop(key, e)
			s.effect(Evicted, key, e.maker, 0)
		}
	}
}

// Relieve ends what Evict began.
func (s *Server) Relieve() {
	s.pressed = false
	s.role()
}
