package docker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// nodes knows the entries of the locks in an ensemble, which are the children of the
// nodes with the locks' names: the acquire that made each, and its fate. Links report
// every request before it is sent, and the learner every transaction. So nodes knows
// which client made or removed a node, whatever answer the client got.
type nodes struct {
	view
	lock     *catalogue.Lock
	declared declared
	learn    func(zxid int64) // that a transaction of that number exists

	zxid     int64         // the last reported transaction
	requests map[ask]int64 // the operations of requests
	live     map[string]znode
	gone     map[string]bool // former entries
	sessions map[string][]session
	closed   map[int64]bool // sessions
}

// ask identifies a request, as the ensemble does.
type ask struct {
	session int64
	xid     int32
}

// znode is an entry of a lock.
type znode struct {
	op      int64 // the acquire that made it
	session int64 // its session, if it is ephemeral; else 0
}

// session is a client's session, with the password that reopens it elsewhere.
type session struct {
	id       int64
	password []byte
}

func newNodes(lock *catalogue.Lock, names []string, o env.Observer, log func(string, ...any)) *nodes {
	return &nodes{
		lock:     lock,
		view:     view{names: names, observer: o, log: log, subject: "the ensemble is", changed: make(chan struct{})},
		requests: map[ask]int64{}, live: map[string]znode{}, gone: map[string]bool{},
		sessions: map[string][]session{}, closed: map[int64]bool{},
	}
}

// AddRequest records a request that is about to be sent.
func (n *nodes) AddRequest(session int64, xid int32, op int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests[ask{session, xid}] = op
}

// Opened records a session of a client.
func (n *nodes) Opened(client string, id int64, password []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions[client] = append(n.sessions[client], session{id, password})
}

// openSessions returns the sessions of a client that have not ended.
func (n *nodes) openSessions(client string) []session {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.sessions[client]), func(s session) bool { return n.closed[s.id] })
}

// lockOf returns the lock whose entry the node at path is; "": none.
func (n *nodes) lockOf(path string) string {
	i := strings.LastIndexByte(path, '/')
	if name, ok := n.declared.lockOf(path); ok {
		if name == "" && i > 0 {
			name, _ = n.declared.lockOf(path[:i])
		}
		return name
	}
	if i < 1 || i == len(path)-1 {
		return ""
	}
	return n.lock.NameIn(path[1:i], n.names)
}

// commit handles a transaction that the named server reported as the leader.
func (n *nodes) commit(leader string, t txn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer n.signal()
	n.zxid = max(n.zxid, t.zxid)
	a := ask{t.session, t.xid}
	switch {
	case t.kind == jute.OpMulti:
		n.dropLocked("several changes were sent as one")
	case t.kind == jute.OpCloseSession:
		n.end(leader, a)
	case n.lockOf(t.path) == "" || n.isParent(t):
	case t.creates():
		if op := n.operationOf(t, a); op > 0 {
			owner := int64(0)
			if t.ephemeral {
				owner = t.session
			}
			n.live[t.path] = znode{op, owner}
			n.report(leader, history.Granted, t.path, op, op)
		}
	case t.kind == jute.OpSetData:
		if e, there := n.live[t.path]; there {
			if by := n.operationOf(t, a); by != 0 {
				n.report(leader, history.Change, t.path, e.op, by)
			}
		}
	default:
		if by := n.operationOf(t, a); by != 0 {
			n.remove(leader, history.Remove, t.path, by)
		}
	}
}

// isParent reports whether a transaction is about a declared node that is no entry itself,
// but may have entries as children.
func (n *nodes) isParent(t txn) bool {
	name, _ := n.declared.lockOf(t.path)
	_, entry := n.live[t.path]
	return name != "" && !entry && !t.ephemeral
}

// operationOf returns the operation of a transaction; 0: it is unknown, and nothing is
// observed any more.
func (n *nodes) operationOf(t txn, a ask) int64 {
	op := n.requests[a]
	if unknown(op) {
		n.dropLocked("%s was changed by request %d of session %#x, which belongs to no operation of a client", t.path, a.xid, a.session)
		return 0
	}
	return op
}

// end ends a session with its nodes: at the request of its client or another one, or
// because the ensemble had heard nothing from it.
func (n *nodes) end(leader string, a ask) {
	f, by := history.Expire, int64(0)
	if op := n.requests[a]; op > 0 {
		f, by = history.Remove, op
	}
	for _, path := range slices.Sorted(maps.Keys(n.live)) {
		if n.live[path].session == a.session {
			n.remove(leader, f, path, by)
		}
	}
	n.closed[a.session] = true
}

func (n *nodes) remove(leader, f, path string, by int64) {
	if e, ok := n.live[path]; ok {
		delete(n.live, path)
		n.gone[path] = true
		n.report(leader, f, path, e.op, by)
	}
}

// report passes an event of the leader to the observer.
func (n *nodes) report(leader, f, path string, op, by int64) {
	if !n.dropped {
		n.event(leader, f, n.lockOf(path), path, op, by, "")
	}
}

// tellLimit is how long a report may take that must precede a client's answer. Without
// a running leader there are no reports.
const tellLimit = 15 * time.Second

// await returns when told returns true, which it calls with mu held, or when nothing is
// observed any more, or stop is closed.
func (n *nodes) await(stop <-chan struct{}, told func() bool) {
	if !n.view.await(stop, time.After(tellLimit), told) {
		n.drop("its changes were not reported within %v", tellLimit)
	}
}

// Ends returns when the end of a session is reported, with that of its nodes.
func (n *nodes) Ends(stop <-chan struct{}, session int64) {
	n.await(stop, func() bool { return n.closed[session] })
}

// Committed returns when all transactions up to zxid are reported.
func (n *nodes) Committed(stop <-chan struct{}, zxid int64) {
	n.Beyond(zxid)
	n.await(stop, func() bool { return n.zxid >= zxid })
}

// Beyond records that a transaction of that number exists.
func (n *nodes) Beyond(zxid int64) { n.learn(zxid) }

// Drop stops observing, with the reason.
func (n *nodes) Drop(format string, args ...any) { n.drop(format, args...) }

// Event returns the function that waits until the creation or removal of a node is
// reported, which has caused an event of a watch. The event does not name its transaction.
func (n *nodes) Event(kind zookeeper.EventType, path string) (wait func(stop <-chan struct{})) {
	switch {
	case n.lockOf(path) == "":
	case kind == zookeeper.NodeDeleted:
		return func(stop <-chan struct{}) { n.await(stop, func() bool { return n.gone[path] }) }
	case kind == zookeeper.NodeCreated:
		return func(stop <-chan struct{}) {
			n.await(stop, func() bool { _, there := n.live[path]; return there || n.gone[path] })
		}
	}
	return nil
}

var _ clients.Nodes = (*nodes)(nil)
