package model

import (
	"slices"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// WatchKind is the kind of a watch at its client.
type WatchKind uint8

// The kinds.
const (
	DataWatch  WatchKind = iota + 1 // on an existing node: by GetData or Exists
	ExistWatch                      // on a missing node: by Exists
	ChildWatch                      // by GetChildren
)

// Watch is one watch at its client.
type Watch struct {
	Kind WatchKind
	Path string
}

// WatchOf returns the watch that c has set with the reply r; false means none.
func WatchOf(c zookeeper.Command, r zookeeper.Reply) (Watch, bool) {
	switch {
	case !c.Watch:
	case c.Verb == zookeeper.Exists && r.Code == zookeeper.NoNode:
		return Watch{ExistWatch, c.Path}, true
	case r.Code != zookeeper.OK:
	case c.Verb == zookeeper.Exists, c.Verb == zookeeper.GetData:
		return Watch{DataWatch, c.Path}, true
	case c.Verb == zookeeper.GetChildren:
		return Watch{ChildWatch, c.Path}, true
	}
	return Watch{}, false
}

// Ends reports whether e ends w.
func (w Watch) Ends(e zookeeper.Event) bool {
	if w.Path != e.Path {
		return false
	}
	switch e.Type {
	case zookeeper.NodeCreated:
		return w.Kind == ExistWatch
	case zookeeper.NodeDataChanged:
		return w.Kind != ChildWatch
	case zookeeper.NodeChildrenChanged:
		return w.Kind == ChildWatch
	}
	return e.Type == zookeeper.NodeDeleted
}

// Fired is an event for a session.
type Fired struct {
	Session int64
	Event   zookeeper.Event
}

// Fired returns the watches that have fired since the last call, in the order of
// their events. The slice is valid until the next call of any other method.
func (m *Member) Fired() []Fired {
	f := m.fired
	m.fired = m.fired[:0]
	return f
}

// watchKey is the subject of a server's watches: the list of children of a path,
// or everything else about it.
type watchKey struct {
	path     string
	children bool
}

// watch sets a watch of session on w. It fires once.
func (m *Member) watch(session int64, w watchKey) {
	list, ok := m.watches[w]
	if last := len(m.spare) - 1; !ok && last >= 0 {
		list, m.spare = m.spare[last], m.spare[:last]
	}
	if i, has := slices.BinarySearch(list, session); !has {
		m.watches[w] = slices.Insert(list, i, session)
	}
}

// take removes the watches on w. The slice is valid until the next call of watch.
func (m *Member) take(w watchKey) []int64 {
	list, ok := m.watches[w]
	if ok {
		delete(m.watches, w)
		m.spare = append(m.spare, list[:0])
	}
	return list
}

func (m *Member) fireCreated(path string) {
	m.fireAll(m.take(watchKey{path, false}), zookeeper.NodeCreated, path)
	m.fireChildren(path)
}

func (m *Member) fireChanged(path string) {
	m.fireAll(m.take(watchKey{path, false}), zookeeper.NodeDataChanged, path)
}

// fireDeleted sends a session only one event, even if it watches path in both ways.
func (m *Member) fireDeleted(path string) {
	told := m.take(watchKey{path, false})
	m.fireAll(told, zookeeper.NodeDeleted, path)
	for _, s := range m.take(watchKey{path, true}) {
		if _, has := slices.BinarySearch(told, s); !has {
			m.fire(s, zookeeper.NodeDeleted, path)
		}
	}
	m.fireChildren(path)
}

// fireChildren fires the watches on the list that contains path.
func (m *Member) fireChildren(path string) {
	above, _ := split(path)
	m.fireAll(m.take(watchKey{above, true}), zookeeper.NodeChildrenChanged, above)
}

func (m *Member) fireAll(sessions []int64, e zookeeper.EventType, path string) {
	for _, s := range sessions {
		m.fire(s, e, path)
	}
}

func (m *Member) fire(session int64, e zookeeper.EventType, path string) {
	m.fired = append(m.fired, Fired{session, zookeeper.Event{Type: e, Path: path}})
}

// Attach handles a client that reconnects, with its remaining watches and the
// greatest zxid in its replies. Changes since then fire at once; the other
// watches are set. A deleted node that the client watches in two ways fires twice:
// the first event ends both watches, and the client ignores the second. False means
// that m has seen less than the client and refuses it; the client then tries another
// server.
func (m *Member) Attach(session int64, watches []Watch, zxid int64) bool {
	if zxid > m.tree.zxid {
		return false
	}
	for _, kind := range [...]WatchKind{DataWatch, ExistWatch, ChildWatch} {
		for _, w := range watches {
			if w.Kind != kind {
				continue
			}
			if e := m.missedEvent(w, zxid); e != 0 {
				m.fire(session, e, w.Path)
			} else {
				m.watch(session, watchKey{w.Path, kind == ChildWatch})
			}
		}
	}
	return true
}

// missedEvent returns the event for w since zxid, or 0.
func (m *Member) missedEvent(w Watch, zxid int64) zookeeper.EventType {
	n := m.tree.nodes[w.Path]
	switch {
	case w.Kind == ExistWatch && n != nil:
		return zookeeper.NodeCreated
	case w.Kind == ExistWatch:
		return 0
	case n == nil:
		return zookeeper.NodeDeleted
	case w.Kind == DataWatch && n.mzxid > zxid:
		return zookeeper.NodeDataChanged
	case w.Kind == ChildWatch && n.pzxid > zxid:
		return zookeeper.NodeChildrenChanged
	}
	return 0
}

// Detach removes the watches of session: its connection has ended. Events that
// have fired stay in Fired.
func (m *Member) Detach(session int64) {
	for w, list := range m.watches {
		i, has := slices.BinarySearch(list, session)
		if !has {
			continue
		}
		if list = slices.Delete(list, i, i+1); len(list) > 0 {
			m.watches[w] = list
			continue
		}
		delete(m.watches, w)
		m.spare = append(m.spare, list)
	}
}
