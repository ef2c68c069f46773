package model

// EffectKind is what became of a node.
type EffectKind uint8

// The kinds.
const (
	Created EffectKind = iota + 1
	Deleted
)

// Effect is one node that came or went.
type Effect struct {
	Kind  EffectKind
	Path  string
	Czxid int64 // the transaction that created the node
	Owner int64 // the session of an ephemeral node
	Maker int   // the tag of the request that created it
	By    int   // the tag of the request that acted, a Close too; 0: the node's session expired
}

// Effects returns what took effect here since it was last called, in order. The
// slice is good until the next call of any other method; who never calls
// Effects lets it grow.
func (m *Member) Effects() []Effect {
	e := m.effects
	m.effects = m.effects[:0]
	return e
}

func (m *Member) effect(e Effect) { m.effects = append(m.effects, e) }
