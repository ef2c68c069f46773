package model

import "time"

// Policy is the server's maxmemory-policy: which keys it evicts when its memory
// is full.
type Policy uint8

// These are the policies. The preference for the least recently used keys is not
// modelled: under pressure all allowed keys are evicted.
const (
	VolatileLRU Policy = iota // keys that expire
	AllKeys                   // any key
	NoEviction                // no keys: commands that need memory are refused
)

var policyNames = [...]string{VolatileLRU: "volatile-lru", AllKeys: "allkeys-lru", NoEviction: "noeviction"}

// String returns the policy's name in Redis' configuration.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return "unknown"
}

// Evict is memory pressure. With NoEviction commands that need memory are refused
// until Relieve. With other policies all allowed keys are evicted at once, which
// is assumed to be enough. A follower neither evicts nor refuses: its leader
// does.
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

// Relieve ends the pressure of Evict.
func (s *Server) Relieve() {
	s.pressed = false
	s.role()
}
