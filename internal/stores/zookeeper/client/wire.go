package client

import (
	"net"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// wire is a connection of the library that observes the packets of ZooKeeper's
// protocol: each is a length and that many bytes. The library writes one packet
// at a time and never reads beyond the end of a packet. wire notes a packet
// before it passes it on.
type wire struct {
	net.Conn
	session *session
	until   time.Time // deadline of the answer to the greeting

	wrote bool  // the greeting; used by the one goroutine that writes
	seen  int64 // the client's last transaction before this connection
	// The following fields belong to the one goroutine that reads.
	in      []byte // the beginning of an incomplete packet
	greeted bool

	// asked are the requests that may set watches, by number. The session's mutex
	// guards it.
	asked map[int32]ask
}

// ask is a request that was sent and sets a watch if it succeeds.
type ask struct {
	op    int32
	watch watch
}

// watch is a watch of the client. An exists-watch on an existing node is one on
// its data.
type watch struct {
	kind byte
	path string
}

const (
	onData, onAbsence, onChildren byte = 'd', 'e', 'c'

	xidClose = 0 // the library begins with 1
)

// Write notes a packet and passes it on, unless its request was given up before:
// such a request is never sent. To the library it looks like one without an
// answer.
//
// Watches are set here and not by the library. The library would send its watches
// to the next server only after it has begun to send requests, so that a change
// might be missed. It would also read its last transaction while answers change
// it.
func (w *wire) Write(b []byte) (int, error) {
	if !w.wrote {
		w.wrote = true
		w.seen, _ = jute.Packet(b).Skip(8).Long()
		w.session.mu.Lock()
		w.session.asked = true
		w.session.mu.Unlock()
		return w.Conn.Write(b)
	}
	p := jute.Packet(b).Skip(4)
	xid, p := p.Int()
	op, p := p.Int()
	if xid == jute.XidPing {
		return w.Conn.Write(b)
	}
	leaves, watches := w.admit(xid, op, p)
	if !leaves {
		return len(b), nil
	}
	if watches {
		b = slices.Clone(b)
		b[len(b)-1] = 1
	}
	return w.Conn.Write(b)
}

// sendClose sends the end of the session. The library's Close would report a lost
// connection to waiting calls, and would not report the server's answer. The
// library ignores the answer to this packet.
func (w *wire) sendClose() {
	bye := jute.AppendInt(jute.AppendInt(nil, xidClose), jute.OpCloseSession)
	w.Conn.Write(jute.AppendBuffer(nil, bye)) // if it fails, the library notices
}

// admit reports whether a request is to be sent, and whether it sets a watch.
func (w *wire) admit(xid, op int32, rest jute.Packet) (leaves, watches bool) {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.making
	defer s.settle(q)
	if q == nil || q.dropped || s.endErr() != nil {
		return false, false
	}
	q.sent = true
	path, _ := rest.Text()
	switch {
	case !q.Watch:
		return true, false
	case op == jute.OpExists, op == jute.OpGetData:
		w.asked[xid] = ask{op, watch{onData, path}}
	case op == jute.OpGetChildren2:
		w.asked[xid] = ask{op, watch{onChildren, path}}
	default:
		return true, false
	}
	return true, true
}

// setWatches sends the client's watches to a server before any request. The
// server answers with the events of changes since then.
func (w *wire) setWatches(watches []watch) error {
	w.SetWriteDeadline(w.until)
	defer w.SetWriteDeadline(time.Time{})
	for part := range slices.Chunk(watches, 100) {
		b := jute.AppendInt(jute.AppendInt(nil, jute.XidSetWatches), jute.OpSetWatches)
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

// appendPaths appends the list of the paths with watches of one kind.
func appendPaths(b []byte, kind byte, watches []watch) []byte {
	watches = slices.DeleteFunc(slices.Clone(watches), func(w watch) bool { return w.kind != kind })
	b = jute.AppendInt(b, int32(len(watches)))
	for _, w := range watches {
		b = jute.AppendBuffer(b, w.path)
	}
	return b
}

// Read passes on received data and notes it.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.in = append(w.in, b[:n]...)
	for {
		length, rest := jute.Packet(w.in).Int()
		if rest == nil || int(length) > len(rest) || length < 0 {
			return n, err
		}
		w.receive(rest[:length])
		w.in = append(w.in[:0], rest[length:]...)
	}
}

// SetReadDeadline sets a deadline for the answer to the greeting.
func (w *wire) SetReadDeadline(t time.Time) error {
	if !w.greeted {
		t = w.until
	}
	return w.Conn.SetReadDeadline(t)
}

// receive notes a received packet.
func (w *wire) receive(p jute.Packet) {
	s := w.session
	if !w.greeted {
		w.greeted = true
		p = p.Skip(4)
		timeout, p := p.Int()
		id, _ := p.Long()
		s.mu.Lock()
		defer s.mu.Unlock()
		if id != 0 { // the server accepts the session
			s.id, s.timeout = id, time.Duration(timeout)*time.Millisecond
		}
		return
	}
	xid, p := p.Int()
	code, p := p.Skip(8).Int()
	if xid == jute.XidEvent {
		kind, p := p.Int()
		path, _ := p.Skip(4).Text()
		s.noteFired(zookeeper.EventType(kind), path)
		return
	}
	s.mu.Lock()
	a, ok := w.asked[xid]
	delete(w.asked, xid)
	switch code := zookeeper.Code(code); {
	case ok && code == zookeeper.OK:
		s.watches[a.watch] = true
	case ok && code == zookeeper.NoNode && a.op == jute.OpExists:
		s.watches[watch{onAbsence, a.watch.path}] = true
	}
	s.mu.Unlock()
	if xid == xidClose && code == 0 {
		s.finish(zookeeper.ErrClosed, zookeeper.Closed)
	}
}

// noteFired notes the watches that an event uses up. The library delivers that event
// next.
func (s *session) noteFired(t zookeeper.EventType, path string) {
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
