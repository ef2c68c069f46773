package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// Member is one server's copy of the nodes and the sessions, and the watches of
// those clients that are connected to it.
type Member struct {
	tree    tree
	watches map[watched][]int64 // the sessions that watch, in order
	spare   [][]int64
	fired   []Fired
	effects []Effect
}

// NewMember returns a member that holds what a new ensemble holds.
func NewMember() *Member {
	m := new(Member)
	m.Reset()
	return m
}

// Reset makes m a new member; the zero Member may be Reset, too.
func (m *Member) Reset() {
	m.tree.reset()
	m.Restart()
	m.effects = m.effects[:0]
}

// Zxid is that of the last transaction committed here. It is what every reply
// carries, and what Attach takes.
func (m *Member) Zxid() int64 { return m.tree.zxid }

// Commit takes in t, the next transaction, and returns the reply to whom has
// asked for it. One that m has already is ignored.
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
		m.created(t.Path)
		return zookeeper.Reply{Path: t.Path}
	case Change:
		m.changed(t.Path)
		return zookeeper.Reply{Stat: m.tree.nodes[t.Path].stat()}
	case Deletion, Closing:
		for _, e := range m.tree.gone {
			m.effect(e)
			m.deleted(e.Path)
		}
	}
	if t.Kind == Closing {
		m.Detach(t.Session)
	}
	return zookeeper.Reply{}
}

// Read answers c, an Exists, GetData, GetChildren or Sync. A watch is
// session's, until it has fired or session is detached. Children come sorted.
func (m *Member) Read(session int64, c zookeeper.Command) zookeeper.Reply {
	if !Valid(c) {
		return zookeeper.Reply{Code: zookeeper.BadArguments}
	}
	n := m.tree.nodes[c.Path]
	if c.Watch && (n != nil || c.Verb == zookeeper.Exists) {
		m.watch(session, watched{c.Path, c.Verb == zookeeper.GetChildren})
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

// Has tells whether session is open, as far as m knows.
func (m *Member) Has(session int64) bool { return m.tree.sessions[session] != nil }

// Restart is the process of m ending and beginning anew: what was committed is
// there, on disk, and all connections are gone.
func (m *Member) Restart() {
	if m.watches == nil {
		m.watches = make(map[watched][]int64)
	}
	for _, list := range m.watches {
		m.spare = append(m.spare, list[:0])
	}
	clear(m.watches)
	m.fired = m.fired[:0]
}

// CopyFrom is a snapshot, for a member that has nothing or lags too far: m
// holds what from holds, and has no connections. It has no Effects.
func (m *Member) CopyFrom(from *Member) {
	m.Restart()
	m.tree.copyFrom(&from.tree)
}
