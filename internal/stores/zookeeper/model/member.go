package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// Member is one server's copy of the nodes and the sessions, with the watches of
// its connected clients.
type Member struct {
	tree    tree
	watches map[watchKey][]int64 // the sessions that watch, in order
	spare   [][]int64
	fired   []Fired
	effects []Effect
}

// NewMember returns a member with the data of a new ensemble.
func NewMember() *Member {
	m := new(Member)
	m.Reset()
	return m
}

// Reset makes m a new member. The zero Member may be Reset, too.
func (m *Member) Reset() {
	m.tree.reset()
	m.Restart()
	m.effects = m.effects[:0]
}

// Zxid returns the zxid of the last transaction committed here. Every reply
// carries it, and Attach takes it.
func (m *Member) Zxid() int64 { return m.tree.zxid }

// Commit applies t, the next transaction, and returns the reply to its request.
// It ignores a transaction that m already has.
func (m *Member) Commit(t Txn) zookeeper.Reply {
	if t.Zxid <= m.tree.zxid {
		return zookeeper.Reply{}
	}
	m.tree.apply(&t)
	switch t.Kind {
	case Refusal:
		return zookeeper.Reply{Code: t.Code}
	case Creation:
		m.effect(Effect{Created, t.Path, t.Zxid, m.tree.nodes[t.Path].owner, t.By, t.By})
		m.fireCreated(t.Path)
		return zookeeper.Reply{Path: t.Path}
	case Change:
		n := m.tree.nodes[t.Path]
		m.effect(Effect{Changed, t.Path, n.czxid, n.owner, n.maker, t.By})
		m.fireChanged(t.Path)
		return zookeeper.Reply{Stat: n.stat()}
	case Deletion, Closing:
		for _, e := range m.tree.gone {
			m.effect(e)
			m.fireDeleted(e.Path)
		}
	}
	if t.Kind == Closing {
		m.Detach(t.Session)
	}
	return zookeeper.Reply{}
}

// Read answers c, an Exists, GetData, GetChildren or Sync. A watch belongs to
// session until it has fired or session is detached. Children are sorted.
func (m *Member) Read(session int64, c zookeeper.Command) zookeeper.Reply {
	if !Valid(c) {
		return zookeeper.Reply{Code: zookeeper.BadArguments}
	}
	n := m.tree.nodes[c.Path]
	if c.Watch && (n != nil || c.Verb == zookeeper.Exists) {
		m.watch(session, watchKey{c.Path, c.Verb == zookeeper.GetChildren})
	}
	switch {
	case c.Verb == zookeeper.Sync:
		return zookeeper.Reply{}
	case n == nil:
		return zookeeper.Reply{Code: zookeeper.NoNode}
	case c.Verb == zookeeper.Exists:
		return zookeeper.Reply{Stat: n.stat()}
	case c.Verb == zookeeper.GetData:
		return zookeeper.Reply{Data: n.data, Stat: n.stat()}
	case c.Verb == zookeeper.GetChildren:
		return zookeeper.Reply{Children: slices.Clone(n.children), Stat: n.stat()}
	}
	return zookeeper.Reply{Code: zookeeper.BadArguments}
}

// Has reports whether session is open as far as m knows.
func (m *Member) Has(session int64) bool { return m.tree.sessions[session] != nil }

// Restart ends and restarts the process of m: it keeps all commits on disk and
// loses all connections.
func (m *Member) Restart() {
	if m.watches == nil {
		m.watches = make(map[watchKey][]int64)
	}
	for _, list := range m.watches {
		m.spare = append(m.spare, list[:0])
	}
	clear(m.watches)
	m.fired = m.fired[:0]
}

// CopyFrom is a snapshot for a member that is empty or too far behind: m gets the
// data of from and has no connections. It has no Effects.
func (m *Member) CopyFrom(from *Member) {
	m.Restart()
	m.tree.copyFrom(&from.tree)
}
