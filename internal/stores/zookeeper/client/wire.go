package client

import (
	"net"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// wire is a connection of the library's, and notes what passes: the packets of
// ZooKeeper's protocol, each a length and so many bytes. The library writes a
// packet at a time and reads no further than to the end of one. What passes is
// noted before the other side of wire sees it.
type wire struct {
	net.Conn
	session *session
	until   time.Time // the answer to the greeting has to be there

	wrote bool  // the greeting, by the one goroutine that writes
	seen  int64 // the last transaction that the client has seen before
	// What follows belongs to the one goroutine that reads.
	in      []byte // of a packet that is not complete
	greeted bool

	// asked are requests whose answers matter here, by number; with the
	// session's mutex.
	asked map[int32]ask
}

// ask is a request that was sent, and that watches if it is answered.
type ask struct {
	op    int32
	watch watch
}

// watch is what the client watches: an exists-watch on a node that is there is
// one on its data.
type watch struct {
	kind byte
	path string
}

const (
	onData, onAbsence, onChildren byte = 'd', 'e', 'c'

	opExists      = 3
	opGetData     = 4
	opGetChildren = 12
	opSetWatches  = 101
	opClose       = -11
	xidWatch      = -1
	xidPing       = -2
	xidClose      = 0  // the library begins with 1
	xidSetWatches = -8 // as the Java client has it
)

// Write notes a packet and passes it on, unless nobody waits for it any more:
// a request that was given up before it left never leaves. To the library it is
// one that is not answered.
//
// Watches are asked for here. Of those that the library knows it would tell the
// next server after it has begun to pass requests on, so that what they are
// about might change unseen; and it would read the last transaction while the
// answers to these change it.
func (w *wire) Write(b []byte) (int, error) {
	if !w.wrote {
		w.wrote = true
		w.seen, _ = jute.Packet(b).Skip(8).Long()
		w.session.asks()
		return w.Conn.Write(b)
	}
	p := jute.Packet(b).Skip(4)
	xid, p := p.Int()
	op, p := p.Int()
	if xid == xidPing {
		return w.Conn.Write(b)
	}
	leaves, watches := w.leaves(xid, op, p)
	if !leaves {
		return len(b), nil
	}
	if watches {
		b = slices.Clone(b)
		b[len(b)-1] = 1
	}
	return w.Conn.Write(b)
}

// bid sends that the session is closed. The library's Close would say to those
// who wait that their connection has gone, and would not tell whether the
// server has answered; to it, what comes is the answer to nothing.
func (w *wire) bid() {
	bye := jute.AppendInt(jute.AppendInt(nil, xidClose), opClose)
	w.Conn.Write(jute.AppendBuffer(nil, bye)) // if it fails, the library finds out
}

// asks notes that a server is asked to carry the session.
func (s *session) asks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
}

// leaves tells whether a request is to be sent, and whether it is to watch.
func (w *wire) leaves(xid, op int32, rest jute.Packet) (leaves, watches bool) {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.making
	defer s.settle(q)
	if q == nil || q.dropped || s.over() != nil {
		return false, false
	}
	q.sent = true
	path, _ := rest.Text()
	switch {
	case !q.watches:
		return true, false
	case op == opExists, op == opGetData:
		w.asked[xid] = ask{op, watch{onData, path}}
	case op == opGetChildren:
		w.asked[xid] = ask{op, watch{onChildren, path}}
	default:
		return true, false
	}
	return true, true
}

// setWatches tells a server, before anything is asked of it, what the client
// watches: it answers with the events of what has changed meanwhile.
func (w *wire) setWatches(watches []watch) error {
	w.SetWriteDeadline(w.until)
	defer w.SetWriteDeadline(time.Time{})
	for part := range slices.Chunk(watches, 100) {
		b := jute.AppendInt(jute.AppendInt(nil, xidSetWatches), opSetWatches)
		b = jute.AppendLong(b, w.seen)
		for _, kind := range []byte{onData, onAbsence, onChildren} {
			b = appendPaths(b, kind, part)
		}
		if _, err := w.Conn.Write(jute.AppendBuffer(nil, b)); err != nil {
			return err
		}
	}
	return nil
}

// appendPaths appends the list of the paths that are watched in one way.
func appendPaths(b []byte, kind byte, watches []watch) []byte {
	watches = slices.DeleteFunc(slices.Clone(watches), func(w watch) bool { return w.kind != kind })
	b = jute.AppendInt(b, int32(len(watches)))
	for _, w := range watches {
		b = jute.AppendBuffer(b, w.path)
	}
	return b
}

// Read passes on what has come, and notes it.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.in = append(w.in, b[:n]...)
	for {
		length, rest := jute.Packet(w.in).Int()
		if rest == nil || int(length) > len(rest) || length < 0 {
			return n, err
		}
		w.came(rest[:length])
		w.in = append(w.in[:0], rest[length:]...)
	}
}

// SetReadDeadline has a server that does not answer the greeting given up in
// time.
func (w *wire) SetReadDeadline(t time.Time) error {
	if !w.greeted {
		t = w.until
	}
	return w.Conn.SetReadDeadline(t)
}

// came notes a packet that has come.
func (w *wire) came(p jute.Packet) {
	s := w.session
	if !w.greeted {
		w.greeted = true
		p = p.Skip(4)
		timeout, p := p.Int()
		id, _ := p.Long()
		s.granted(id, time.Duration(timeout)*time.Millisecond)
		return
	}
	xid, p := p.Int()
	code, p := p.Skip(8).Int()
	if xid == xidWatch {
		kind, p := p.Int()
		path, _ := p.Skip(4).Text()
		s.fired(zookeeper.EventType(kind), path)
		return
	}
	s.mu.Lock()
	a, ok := w.asked[xid]
	delete(w.asked, xid)
	if ok {
		s.watching(a, zookeeper.Code(code))
	}
	s.mu.Unlock()
	if xid == xidClose && code == 0 {
		s.finish(zookeeper.ErrClosed, zookeeper.Closed)
	}
}

// granted notes what a server says of the session that it carries now; 0: none.
func (s *session) granted(id int64, timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != 0 {
		s.id, s.timeout = id, timeout
	}
}

// watching notes what a request that watches has brought. The caller has the
// mutex.
func (s *session) watching(a ask, code zookeeper.Code) {
	switch {
	case code == zookeeper.OK:
		s.watches[a.watch] = true
	case code == zookeeper.NoNode && a.op == opExists:
		s.watches[watch{onAbsence, a.watch.path}] = true
	}
}

// fired notes which watches an event uses up. The library tells it next.
func (s *session) fired(t zookeeper.EventType, path string) {
	kinds := map[zookeeper.EventType]string{
		zookeeper.NodeCreated: "e", zookeeper.NodeDeleted: "edc",
		zookeeper.NodeDataChanged: "ed", zookeeper.NodeChildrenChanged: "c",
	}[t]
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.watches)
	for i := range len(kinds) {
		delete(s.watches, watch{kinds[i], path})
	}
	s.watched = len(s.watches) < before
}
