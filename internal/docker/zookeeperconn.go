package docker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// zookeeperTalk is a client's connection to a member of an ensemble: packets with their
// length before them. The first in each direction is a greeting; the others are
// numbered requests, their answers, and events.
//
// Source: Apache ZooKeeper, zookeeper.jute (org.apache.zookeeper.proto).
type zookeeperTalk struct {
	nodes   *nodes
	client  string
	replies *bufio.Reader

	greeted bool         // the client has sent its greeting; for the goroutine that reads requests
	asked   atomic.Int64 // the session that it asked for; 0: a new one
	session atomic.Int64 // the session of the connection; 0: none yet
}

// The numbers of messages that are not requests of the lock: see kindLibrary.
const (
	xidEvent      = -1
	xidPing       = -2
	xidAuth       = -4
	xidSetWatches = -8
	maxZooKeeper  = 4 << 20 // bytes of a packet; a server accepts a quarter of that
)

// sessionExpired is the answer to a request after the end of its session.
const sessionExpired = -112

var errNotZooKeeper = errors.New("not the protocol of ZooKeeper")

// readPacket reads a packet, and returns its raw bytes and its body.
func readPacket(r *bufio.Reader) (raw []byte, p jute.Packet, err error) {
	head, err := r.Peek(4)
	if err != nil { // return a partial header with the error, so that it is not read again
		raw = append(raw, head...)
		r.Discard(len(head))
		return raw, nil, err
	}
	length := int32(binary.BigEndian.Uint32(head))
	if length < 0 || length > maxZooKeeper {
		return nil, nil, errNotZooKeeper
	}
	raw = make([]byte, 4+length)
	n, err := io.ReadFull(r, raw)
	return raw[:n], jute.Packet(raw[min(4, n):n]), err
}

func (t *zookeeperTalk) request(r *bufio.Reader, op int64) parcel {
	raw, p, err := readPacket(r)
	switch {
	case errors.Is(err, errNotZooKeeper):
		t.nodes.drop("client %s does not speak the protocol of ZooKeeper", t.client)
		raw = make([]byte, r.Buffered())
		io.ReadFull(r, raw)
		return parcel{raw: raw}
	case err != nil:
		return parcel{raw: raw}
	case !t.greeted:
		t.greeted = true
		id, _ := p.Skip(16).Long()
		t.asked.Store(id)
		return parcel{raw: raw, kind: kindLibrary}
	}
	xid, _ := p.Int()
	if library(xid) {
		return parcel{raw: raw, kind: kindLibrary}
	}
	a := ask{t.session.Load(), xid}
	return parcel{raw: raw, pass: func(<-chan struct{}) { t.nodes.addRequest(a, op) }}
}

// library reports whether a message is the library's, not the lock's.
func library(xid int32) bool {
	return xid == xidEvent || xid == xidPing || xid == xidAuth || xid == xidSetWatches
}

// reply delays an answer until everything is reported that the server had committed
// when it sent it.
func (t *zookeeperTalk) reply() (parcel, error) {
	raw, p, err := readPacket(t.replies)
	switch {
	case errors.Is(err, errNotZooKeeper):
		t.nodes.drop("the server does not speak the protocol of ZooKeeper to %s", t.client)
		return parcel{}, err
	case err != nil:
		return parcel{}, err
	case t.session.Load() == 0:
		return t.greeting(raw, p), nil
	}
	xid, p := p.Int()
	zxid, p := p.Long()
	if zxid > 0 {
		t.nodes.beyond(zxid) // pings show a new leader, too
	}
	code, rest := p.Int()
	switch {
	case xid == xidEvent:
		return t.event(raw, rest), nil
	case library(xid):
		return parcel{raw: raw, kind: kindLibrary}, nil
	case code == sessionExpired: // or is about to end
		id := t.session.Load()
		return parcel{raw: raw, pass: func(stop <-chan struct{}) { t.nodes.ends(stop, id) }}, nil
	}
	return parcel{raw: raw, pass: func(stop <-chan struct{}) { t.nodes.committed(stop, zxid) }}, nil
}

// greeting handles the answer to a greeting: a session, or the end of the one that was
// asked for.
func (t *zookeeperTalk) greeting(raw []byte, p jute.Packet) parcel {
	length, p := p.Skip(4).Int()
	id, p := p.Long()
	password, _ := p.Buffer()
	asked := t.asked.Load()
	out := parcel{raw: raw, kind: kindLibrary}
	switch {
	case (length <= 0 || id == 0) && asked != 0:
		out.pass = func(stop <-chan struct{}) { t.nodes.ends(stop, asked) }
	case id == 0: // the server refuses clients
	case asked != id:
		t.nodes.opened(t.client, session{id, append([]byte(nil), password...)})
	}
	t.session.Store(id)
	return out
}

// event delays an event of a watch until the creation or removal of its node is
// reported. The event does not name its transaction.
func (t *zookeeperTalk) event(raw []byte, p jute.Packet) parcel {
	kind, p := p.Int()
	path, _ := p.Skip(4).Text()
	out := parcel{raw: raw, kind: kindLibrary}
	n := t.nodes
	if n.lockOf(path) == "" {
		return out
	}
	switch zookeeper.EventType(kind) {
	case zookeeper.NodeDeleted:
		out.pass = func(stop <-chan struct{}) { n.await(stop, func() bool { return n.gone[path] }) }
	case zookeeper.NodeCreated:
		out.pass = func(stop <-chan struct{}) {
			n.await(stop, func() bool { _, there := n.live[path]; return there || n.gone[path] })
		}
	}
	return out
}
