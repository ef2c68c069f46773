package model

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
)

// tree has the nodes and the sessions after one transaction.
type tree struct {
	zxid     int64
	nodes    map[string]*node
	sessions map[int64]*session
	gone     []Effect // nodes that the last transaction has removed

	spareNodes    []*node
	spareSessions []*session
}

// node is one node. children are names, sorted. counter is the number of children
// ever created; the numbers of sequential ones come from it.
type node struct {
	data                string
	czxid, mzxid, pzxid int64
	version, counter    int32
	owner               int64
	maker               int
	children            []string
}

// session is an open session. ephemerals are its nodes, sorted.
type session struct {
	timeout    time.Duration
	ephemerals []string
	due        int64 // only for a leader: the millisecond in which it expires
}

// special are the nodes of every new ensemble, each after its parent. They cannot
// be deleted and do not count as created children.
var special = [...]string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"}

// reset gives t the data of a new ensemble.
func (t *tree) reset() {
	t.empty()
	for _, path := range special {
		n := t.newNode()
		t.nodes[path] = n
		if path != "/" {
			parent, name := split(path)
			t.nodes[parent].add(name)
		}
	}
}

// empty removes everything from t and keeps the memory.
func (t *tree) empty() {
	if t.nodes == nil {
		t.nodes, t.sessions = make(map[string]*node), make(map[int64]*session)
	}
	for _, n := range t.nodes {
		t.spareNodes = append(t.spareNodes, n)
	}
	for _, s := range t.sessions {
		t.spareSessions = append(t.spareSessions, s)
	}
	clear(t.nodes)
	clear(t.sessions)
	t.zxid, t.gone = 0, t.gone[:0]
}

// copyFrom makes t a copy of from.
func (t *tree) copyFrom(from *tree) {
	t.empty()
	t.zxid = from.zxid
	for path, n := range from.nodes {
		c := t.newNode()
		children := append(c.children, n.children...)
		*c = *n
		c.children = children
		t.nodes[path] = c
	}
	for id, s := range from.sessions {
		t.open(id, s.timeout).ephemerals = append(t.sessions[id].ephemerals, s.ephemerals...)
	}
}

func (t *tree) newNode() *node {
	if len(t.spareNodes) == 0 {
		return new(node)
	}
	n := t.spareNodes[len(t.spareNodes)-1]
	t.spareNodes = t.spareNodes[:len(t.spareNodes)-1]
	*n = node{children: n.children[:0]}
	return n
}

func (t *tree) open(id int64, timeout time.Duration) *session {
	s := new(session)
	if last := len(t.spareSessions) - 1; last >= 0 {
		s, t.spareSessions = t.spareSessions[last], t.spareSessions[:last]
	}
	*s = session{timeout: timeout, ephemerals: s.ephemerals[:0]}
	t.sessions[id] = s
	return s
}

// apply applies x. The leader has checked that it is possible.
func (t *tree) apply(x *Txn) {
	t.zxid, t.gone = x.Zxid, t.gone[:0]
	switch x.Kind {
	case Creation:
		t.create(x)
	case Deletion:
		t.remove(x, x.Path)
	case Change:
		n := t.nodes[x.Path]
		n.data, n.version, n.mzxid = x.Data, x.Version, x.Zxid
	case Opening:
		t.open(x.Session, x.Timeout)
	case Closing:
		t.end(x)
	case Presetting:
		t.preset(x)
	}
}

func (t *tree) create(x *Txn) {
	n := t.newNode()
	n.data, n.maker = x.Data, x.By
	n.czxid, n.mzxid, n.pzxid = x.Zxid, x.Zxid, x.Zxid
	if x.Mode&zookeeper.Ephemeral != 0 {
		n.owner = x.Session
		s := t.sessions[x.Session]
		s.ephemerals = insert(s.ephemerals, x.Path)
	}
	t.nodes[x.Path] = n
	above, name := split(x.Path)
	parent := t.nodes[above]
	parent.add(name)
	if x.Counter > parent.counter { // false after an overflow; see Leader.Preset
		parent.counter, parent.pzxid = x.Counter, x.Zxid
	}
}

func (t *tree) preset(x *Txn) {
	if t.nodes[x.Path] == nil {
		above, _ := split(x.Path)
		t.create(&Txn{Zxid: x.Zxid, Path: x.Path, Counter: t.nodes[above].counter + 1})
	}
	t.nodes[x.Path].counter = x.Counter
}

func (t *tree) remove(x *Txn, path string) {
	n := t.nodes[path]
	t.gone = append(t.gone, Effect{Kind: Deleted, Path: path, Czxid: n.czxid, Owner: n.owner, Maker: n.maker, By: x.By})
	if s := t.sessions[n.owner]; s != nil {
		s.ephemerals = drop(s.ephemerals, path)
	}
	delete(t.nodes, path)
	t.spareNodes = append(t.spareNodes, n)
	above, name := split(path)
	parent := t.nodes[above]
	parent.children = drop(parent.children, name)
	parent.pzxid = x.Zxid
}

// end closes the session. Its nodes are removed in the order of their paths;
// ZooKeeper uses the order of a hash table.
func (t *tree) end(x *Txn) {
	s := t.sessions[x.Session]
	for len(s.ephemerals) > 0 {
		t.remove(x, s.ephemerals[0])
	}
	delete(t.sessions, x.Session)
	t.spareSessions = append(t.spareSessions, s)
}

// ids returns the open sessions, in order.
func (t *tree) ids() []int64 { return slices.Sorted(maps.Keys(t.sessions)) }

// stat returns the node's data for clients. The node counts created children;
// clients get the number of created and deleted ones.
func (n *node) stat() zookeeper.Stat {
	children := int32(len(n.children))
	return zookeeper.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Version: n.version, CVersion: 2*n.counter - children,
		Owner: n.owner, DataLength: int32(len(n.data)), NumChildren: children,
	}
}

func (n *node) add(name string) { n.children = insert(n.children, name) }

func insert(list []string, s string) []string {
	i, _ := slices.BinarySearch(list, s)
	return slices.Insert(list, i, s)
}

func drop(list []string, s string) []string {
	i, found := slices.BinarySearch(list, s)
	if !found {
		return list
	}
	return slices.Delete(list, i, i+1)
}

// split returns the path of the parent and the name in it.
func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 1)], path[i+1:]
}
