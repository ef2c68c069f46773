package model

// EffectKind is a kind of change of a node.
type EffectKind uint8

// The kinds.
const (
	Created EffectKind = iota + 1
	Deleted
	Changed // its data
)

// Effect is a created, deleted or changed node.
type Effect struct {
	Kind  EffectKind
	Path  string
	Czxid int64 // transaction that created the node
	Owner int64 // session of an ephemeral node
	Maker int   // tag of the request that created it
	By    int   // tag of the request that acted, also of a Close; 0: the node's session expired
}

// Effects returns this member's effects since the last call, in order. The slice
// is valid until the next call of any other method. Without calls it grows.
func (m *Member) Effects() []Effect {
	e := m.effects
	m.effects = m.effects[:0]
	return e
}

func (m *Member) effect(e Effect) { m.effects = append(m.effects, e) }
