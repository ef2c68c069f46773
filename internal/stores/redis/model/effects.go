package model

// EffectKind is a kind of change of an entry.
type EffectKind uint8

// These are the kinds. Incrementing an existing number or appending to an
// existing list has no effect; the entry then belongs to its last writer.
const (
	Created     EffectKind = iota + 1 // a new key; by the server itself: a crash undid its removal
	Removed                           // a request removed it
	Overwritten                       // a request replaced it: Maker is the old entry's, By the new one's
	Shortened                         // it expires earlier than before
	Prolonged                         // it expires later than before, or Claim granted it again
	Expired                           // its time was over
	Lost                              // a crash lost it, or its value
	Evicted                           // the server removed it because memory was short
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
	Maker int // tag of the request that made the entry
	By    int // tag of the request that acted; 0: the server itself
}

// Effects returns the effects since the last call, in order. The slice is valid
// until the next call of any other method. Without calls it grows.
func (s *Server) Effects() []Effect {
	e := s.effects
	s.effects = s.effects[:0]
	return e
}

func (s *Server) effect(k EffectKind, key string, maker, by int) {
	s.effects = append(s.effects, Effect{k, key, maker, by})
}
