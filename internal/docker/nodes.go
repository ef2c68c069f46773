package docker

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// nodes knows the entries of the locks in an ensemble, which are children of the
// nodes that are called as the locks: which acquire made each, and what became
// of it. Links tell it of every request before that leaves, and the learner of
// every transaction; so it knows who made and who removed a node, whatever
// became of the answer.
type nodes struct {
	names    []string // of the locks
	observer env.Observer
	log      func(format string, args ...any)
	// beyond says that there is a transaction of that number.
	beyond func(zxid int64)

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when something below has changed
	zxid     int64         // the last transaction that was told
	requests map[ask]int64 // the operations in which clients sent them
	live     map[string]znode
	gone     map[string]bool // what was there once
	sessions map[string][]session
	closed   map[int64]bool // sessions
	dropped  bool           // something could not be told: nothing is observed in this run
}

// ask is a request, as the ensemble knows it.
type ask struct {
	session int64
	xid     int32
}

// znode is an entry of a lock.
type znode struct {
	op      int64 // the acquire that made it
	session int64 // with which it goes; 0: with none
}

// session is one of a client's, and what it is taken up with elsewhere.
type session struct {
	id       int64
	password []byte
}

func newNodes(names []string, o env.Observer, log func(string, ...any)) *nodes {
	return &nodes{
		names: names, observer: o, log: log, changed: make(chan struct{}),
		requests: map[ask]int64{}, live: map[string]znode{}, gone: map[string]bool{},
		sessions: map[string][]session{}, closed: map[int64]bool{},
	}
}

// drop gives up observing the ensemble in this run: better no verdict than a
// wrong one.
func (n *nodes) drop(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropLocked(format, args...)
}

func (n *nodes) dropLocked(format string, args ...any) {
	if !n.dropped {
		n.dropped = true
		n.log("the ensemble is no longer observed: "+format, args...)
	}
	n.signal()
}

// observes tells whether everything could be told so far.
func (n *nodes) observes() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.dropped
}

func (n *nodes) signal() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// sends notes a request that is about to leave.
func (n *nodes) sends(a ask, op int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests[a] = op
}

// opened notes a session of a client's.
func (n *nodes) opened(client string, s session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions[client] = append(n.sessions[client], s)
}

// lasting are the sessions of a client that have not ended.
func (n *nodes) lasting(client string) []session {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.sessions[client]), func(s session) bool { return n.closed[s.id] })
}

// lockOf is the lock whose entry the node at path is; "": none's.
func (n *nodes) lockOf(path string) string {
	parent, child, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if child == "" || !slices.Contains(n.names, parent) {
		return ""
	}
	return parent
}

// commit takes a transaction, of which the named server has told as the leader.
func (n *nodes) commit(leader string, t txn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer n.signal()
	n.zxid = max(n.zxid, t.zxid)
	a := ask{t.session, t.xid}
	switch {
	case t.kind == opMulti:
		n.dropLocked("somebody sent several changes as one")
	case t.kind == opCloseSession:
		n.end(leader, a)
	case n.lockOf(t.path) == "":
	case t.creates():
		if op := n.made(t, a); op > 0 {
			owner := int64(0)
			if t.ephemeral {
				owner = t.session
			}
			n.live[t.path] = znode{op, owner}
			n.tell(leader, history.Granted, t.path, op, op)
		}
	default:
		if by := n.made(t, a); by > 0 {
			n.remove(leader, history.Remove, t.path, by)
		}
	}
}

// made is the operation that a transaction belongs to; 0: it is not known, and
// nothing is observed any more.
func (n *nodes) made(t txn, a ask) int64 {
	op := n.requests[a]
	if op <= 0 {
		n.dropLocked("%s was changed by request %d of session %#x, which belongs to no operation of a client's", t.path, a.xid, a.session)
		return 0
	}
	return op
}

// end is the end of a session, and of its nodes: at its client's request, or
// because the ensemble had heard nothing of it, or at somebody else's.
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
		n.tell(leader, f, path, e.op, by)
	}
}

// tell hands an entry to the observer. by is 0 where no operation did it. It is
// called with the mutex, so that entries keep their order.
func (n *nodes) tell(leader, f, path string, op, by int64) {
	if n.dropped {
		return
	}
	e := history.Entry{
		Process: history.Process{Name: leader}, Type: history.Event, F: f,
		Lock: n.lockOf(path), Key: path, Op: history.Some(op),
	}
	if by != 0 {
		e.By = history.Some(by)
	}
	n.observer.Server(e)
}

// tellLimit is how long it may take until something is told of which a client is
// about to learn. While the leader stands still, or is looked for, nothing is.
const tellLimit = 15 * time.Second

// await returns when told says so, which is asked with the mutex, or nothing is
// observed any more, or stop is closed.
func (n *nodes) await(stop <-chan struct{}, told func() bool) {
	limit := time.NewTimer(tellLimit)
	defer limit.Stop()
	for {
		n.mu.Lock()
		done, changed := n.dropped || told(), n.changed
		n.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-stop:
			return
		case <-limit.C:
			n.drop("what it did is not told within %v", tellLimit)
			return
		}
	}
}

// ends returns when it is told that a session is over, and what went with it.
func (n *nodes) ends(stop <-chan struct{}, session int64) {
	n.await(stop, func() bool { return n.closed[session] })
}

// committed returns when all is told up to a transaction.
func (n *nodes) committed(stop <-chan struct{}, zxid int64) {
	n.beyond(zxid)
	n.await(stop, func() bool { return n.zxid >= zxid })
}
