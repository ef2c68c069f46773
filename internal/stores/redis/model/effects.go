package model

// EffectKind is what became of an entry.
type EffectKind uint8

// The kinds. Counting up a number or appending to a list that exists is none
// of them; the entry is then its last writer's.
const (
	Created     EffectKind = iota + 1 // a key that held nothing holds something; by the server itself: a crash undid its removal
	Removed                           // a request took it away
	Overwritten                       // a request put another entry in its place: Maker is the old one's, By the new one's
	Shortened                         // it expires earlier than it did
	Prolonged                         // it expires later than it did, or Claim granted it again
	Expired                           // its time was over
	Lost                              // a crash took it, or its value, away
	Evicted                           // memory was short, and the server took it
)

var kindNames = [...]string{
	Created: "created", Removed: "removed", Overwritten: "overwritten",
	Shortened: "shortened", Prolonged: "prolonged", Expired: "expired", Lost: "lost",
	Evicted: "evicted",
}

func (k EffectKind) String() string {
	if int(k) < len(kindNames) && k != 0 {
		return kindNames[k]
	}
	return "none"
}

// Effect is one change of one entry.
type Effect struct {
	Kind  EffectKind
	Key   string
	Maker int // the tag of the request that made the entry acted on
	By    int // the tag of the request that acted; 0: the server itself
}

// Effects returns what took effect since it was last called, in order. The
// slice is good until the next call of any other method; who never calls
// Effects lets it grow.
func (s *Server) Effects() []Effect {
	e := s.effects
	s.effects = s.effects[:0]
	return e
}

func (s *Server) effect(k EffectKind, key string, maker, by int) {
	s.effects = append(s.effects, Effect{k, key, maker, by})
}
