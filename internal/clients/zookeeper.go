package clients

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// ZooKeeper is a client's connection to a member of an ensemble: packets with their
// length before them. The first in each direction is a greeting; the others are
// numbered requests, their answers, and events.
//
// Source: Apache ZooKeeper, zookeeper.jute (org.apache.zookeeper.proto).
type ZooKeeper struct {
	Nodes   Nodes // nil: nothing is observed
	Client  string
	Replies *bufio.Reader // from the server

	greeted bool         // the client has sent its greeting; for the goroutine that reads requests
	asked   atomic.Int64 // the session that it asked for; 0: a new one
	session atomic.Int64 // the session of the connection; 0: none yet
}

// Nodes is what an environment observes of an ensemble. The functions with stop return when
// something is reported that must precede a message to a client, or when stop is closed.
type Nodes interface {
	// Drop stops observing, with the reason.
	Drop(format string, args ...any)
	// AddRequest records a request that is about to be sent.
	AddRequest(session int64, xid int32, op int64)
	// Opened records a session of a client.
	Opened(client string, session int64, password []byte)
	// Beyond records that a transaction of that number exists.
	Beyond(zxid int64)
	// Committed waits for all transactions up to zxid.
	Committed(stop <-chan struct{}, zxid int64)
	// Ends waits for the end of a session.
	Ends(stop <-chan struct{}, session int64)
	// Event returns the function that waits for the cause of an event at a node; nil: it is
	// no entry.
	Event(kind zookeeper.EventType, path string) (wait func(stop <-chan struct{}))
}

// maxZooKeeper is the most bytes of a packet: a server accepts a quarter of that.
const maxZooKeeper = 4 << 20

// sessionExpired is the answer to a request after the end of its session.
const sessionExpired = -112

var errNotZooKeeper = errors.New("not the protocol of ZooKeeper")

// ReadPacket reads a packet, and returns its raw bytes and its body.
func ReadPacket(r *bufio.Reader) (raw []byte, p jute.Packet, err error) {
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

// Request implements Dialect.
func (t *ZooKeeper) Request(r *bufio.Reader, op int64) Parcel {
	raw, p, err := ReadPacket(r)
	switch {
	case errors.Is(err, errNotZooKeeper):
		t.drop("client %s does not speak the protocol of ZooKeeper", t.Client)
		raw = make([]byte, r.Buffered())
		io.ReadFull(r, raw)
		return Parcel{Raw: raw}
	case err != nil:
		return Parcel{Raw: raw}
	case !t.greeted:
		t.greeted = true
		id, _ := p.Skip(16).Long()
		t.asked.Store(id)
		return Parcel{Raw: raw, Kind: Library}
	}
	xid, _ := p.Int()
	if library(xid) {
		return Parcel{Raw: raw, Kind: Library}
	}
	out := Parcel{Raw: raw}
	if session := t.session.Load(); t.Nodes != nil {
		out.Pass = func(<-chan struct{}) { t.Nodes.AddRequest(session, xid, op) }
	}
	return out
}

func (t *ZooKeeper) drop(format string, args ...any) {
	if t.Nodes != nil {
		t.Nodes.Drop(format, args...)
	}
}

// library reports whether a message is the library's, not the lock's.
func library(xid int32) bool {
	return xid == jute.XidEvent || xid == jute.XidPing || xid == jute.XidAuth || xid == jute.XidSetWatches
}

// Reply implements Dialect. It delays an answer until everything is reported that the
// server had committed when it sent it.
func (t *ZooKeeper) Reply() (Parcel, error) {
	raw, p, err := ReadPacket(t.Replies)
	switch {
	case errors.Is(err, errNotZooKeeper):
		t.drop("the server does not speak the protocol of ZooKeeper to %s", t.Client)
		return Parcel{}, err
	case err != nil:
		return Parcel{}, err
	case t.session.Load() == 0:
		return t.greeting(raw, p), nil
	}
	xid, p := p.Int()
	out := Parcel{Raw: raw}
	if library(xid) {
		out.Kind = Library
	}
	if t.Nodes == nil {
		return out, nil
	}
	zxid, p := p.Long()
	if zxid > 0 {
		t.Nodes.Beyond(zxid) // pings show a new leader, too
	}
	code, rest := p.Int()
	switch {
	case xid == jute.XidEvent:
		kind, rest := rest.Int()
		path, _ := rest.Skip(4).Text()
		out.Pass = t.Nodes.Event(zookeeper.EventType(kind), path)
	case library(xid):
	case code == sessionExpired: // or is about to end
		id := t.session.Load()
		out.Pass = func(stop <-chan struct{}) { t.Nodes.Ends(stop, id) }
	default:
		out.Pass = func(stop <-chan struct{}) { t.Nodes.Committed(stop, zxid) }
	}
	return out, nil
}

// greeting handles the answer to a greeting: a session, or the end of the one that was
// asked for.
func (t *ZooKeeper) greeting(raw []byte, p jute.Packet) Parcel {
	length, p := p.Skip(4).Int()
	id, p := p.Long()
	password, _ := p.Buffer()
	asked := t.asked.Load()
	out := Parcel{Raw: raw, Kind: Library}
	switch {
	case t.Nodes == nil:
	case (length <= 0 || id == 0) && asked != 0:
		out.Pass = func(stop <-chan struct{}) { t.Nodes.Ends(stop, asked) }
	case id == 0: // the server refuses clients
	case asked != id:
		t.Nodes.Opened(t.Client, id, append([]byte(nil), password...))
	}
	t.session.Store(id)
	return out
}
