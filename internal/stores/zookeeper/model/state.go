package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// AppendState appends the part of m's state that determines its answers to buf,
// as text: the nodes, the sessions and the watches. Tags, Fired and Effects are
// left out. Two members with the same state answer alike.
func (m *Member) AppendState(buf []byte) []byte {
	buf = fmt.Appendf(buf, "zxid %#x\n", m.tree.zxid)
	for _, path := range slices.Sorted(maps.Keys(m.tree.nodes)) {
		n := m.tree.nodes[path]
		buf = fmt.Appendf(buf, "%q %q %+v, counter %d\n", path, n.data, n.stat(), n.counter)
	}
	for _, id := range m.tree.ids() {
		s := m.tree.sessions[id]
		buf = fmt.Appendf(buf, "session %#x, %v: %q\n", id, s.timeout, s.ephemerals)
	}
	for _, w := range slices.SortedFunc(maps.Keys(m.watches), watchKey.compare) {
		buf = fmt.Appendf(buf, "%q is watched, its children %t, by %#x\n", w.path, w.children, m.watches[w])
	}
	return buf
}

func (w watchKey) compare(v watchKey) int {
	kind := func(w watchKey) int {
		if w.children {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(w.path, v.path), cmp.Compare(kind(w), kind(v)))
}
