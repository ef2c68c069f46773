package external

import (
	"bufio"
	"encoding/binary"
	"strings"
	"sync"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// chroot is a client's connection to a member of an ensemble that puts everything below a
// node. Some libraries can do that and others cannot, so the link does it for all: it adds
// the root to the paths in requests, and takes it off the paths in answers and events.
//
// Source: Apache ZooKeeper, zookeeper.jute.
type chroot struct {
	clients.ZooKeeper
	root string

	greeted  bool // the client has sent its greeting; for the goroutine that reads requests
	answered bool // the server has; for the one that reads replies

	mu    sync.Mutex
	asked map[int32]int32 // the kinds of requests without an answer
}

// namesNothing are the kinds of requests without a path: reconfig, auth, sasl, whoAmI, a
// ping, and the end of a session.
var namesNothing = map[int32]bool{16: true, 100: true, 102: true, 107: true, 11: true, -11: true}

// Request implements clients.Dialect.
func (t *chroot) Request(r *bufio.Reader, op int64) clients.Parcel {
	p := t.ZooKeeper.Request(r, op)
	if !t.greeted {
		t.greeted = true
		return p
	}
	body := jute.Packet(p.Raw).Skip(4)
	xid, rest := body.Int()
	kind, rest := rest.Int()
	if rest == nil || namesNothing[kind] {
		return p
	}
	x := newRewriter(body, rest, func(path string) string {
		if path == "/" {
			return t.root
		}
		return t.root + path
	})
	switch kind {
	case jute.OpMulti, jute.OpMultiRead:
		x.multi(x.request)
	case jute.OpSetWatches:
		x.watches(3)
	case jute.OpSetWatches2:
		x.watches(5)
	default:
		x.path()
	}
	t.mu.Lock()
	t.asked[xid] = kind
	t.mu.Unlock()
	p.Raw = x.packet()
	return p
}

// Reply implements clients.Dialect.
func (t *chroot) Reply() (clients.Parcel, error) {
	p, err := t.ZooKeeper.Reply()
	if err != nil || !t.answered {
		t.answered = true
		return p, err
	}
	body := jute.Packet(p.Raw).Skip(4)
	xid, rest := body.Int()
	code, rest := rest.Skip(8).Int()
	x := newRewriter(body, rest, func(path string) string {
		if below, ok := strings.CutPrefix(path, t.root); ok {
			return max(below, "/")
		}
		return path
	})
	t.mu.Lock()
	kind := t.asked[xid]
	delete(t.asked, xid)
	t.mu.Unlock()
	switch {
	case xid == jute.XidEvent:
		x.keep(8) // its kind, and the state of the session
		x.path()
	case code != 0 && kind != jute.OpMulti && kind != jute.OpMultiRead:
		return p, nil
	default:
		switch kind {
		case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpSync:
			x.path()
		case jute.OpMulti:
			x.multi(x.result)
		case jute.OpEphemerals:
			x.list()
		default:
			return p, nil
		}
	}
	p.Raw = x.packet()
	return p, nil
}

// rewriter copies the body of a packet, and changes its paths.
type rewriter struct {
	out    []byte
	rest   jute.Packet
	change func(path string) string
}

// newRewriter returns a rewriter that has copied the part of a body before rest.
func newRewriter(body, rest jute.Packet, change func(string) string) *rewriter {
	head := body[:len(body)-len(rest)]
	return &rewriter{out: append(make([]byte, 4, len(body)+128), head...), rest: rest, change: change}
}

// packet returns the packet with its new length.
func (x *rewriter) packet() []byte {
	x.out = append(x.out, x.rest...)
	binary.BigEndian.PutUint32(x.out, uint32(len(x.out)-4))
	return x.out
}

// keep copies n bytes.
func (x *rewriter) keep(n int) {
	n = min(n, len(x.rest))
	x.out, x.rest = append(x.out, x.rest[:n]...), x.rest[n:]
}

// until copies the bytes up to rest, a later part of the packet.
func (x *rewriter) until(rest jute.Packet) { x.keep(len(x.rest) - len(rest)) }

// path changes a path.
func (x *rewriter) path() {
	if n, _ := x.rest.Int(); n < 0 || len(x.rest) < 4 { // none
		x.keep(4)
		return
	}
	path, rest := x.rest.Text()
	x.out, x.rest = jute.AppendBuffer(x.out, x.change(path)), rest
}

// list changes a list of paths.
func (x *rewriter) list() {
	n, _ := x.rest.Int()
	x.keep(4)
	for ; n > 0 && len(x.rest) > 0; n-- {
		x.path()
	}
}

// watches changes the paths of watches, which follow the number of a transaction.
func (x *rewriter) watches(lists int) {
	x.keep(8)
	for range lists {
		x.list()
	}
}

// multi changes the parts of a multi: each has a header with its kind, and the last is the
// end.
func (x *rewriter) multi(part func(kind int32)) {
	for len(x.rest) > 0 {
		kind, rest := x.rest.Int()
		end, _ := rest.Bool()
		x.keep(4 + 1 + 4)
		if end {
			return
		}
		part(kind)
	}
}

// request changes one request of a multi.
func (x *rewriter) request(kind int32) {
	x.path()
	switch kind {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		_, rest := x.rest.Buffer()
		_, rest = rest.SkipACLs()
		rest = rest.Skip(4) // flags
		if kind == jute.OpCreateTTL {
			rest = rest.Skip(8)
		}
		x.until(rest)
	case jute.OpDelete, jute.OpCheck:
		x.keep(4) // version
	case jute.OpSetData:
		_, rest := x.rest.Buffer()
		x.until(rest.Skip(4))
	default: // of a multi that reads
		x.keep(1) // watch
	}
}

// statBytes is the size of a Stat.
const statBytes = 6*8 + 5*4

// result changes one result of a multi.
func (x *rewriter) result(kind int32) {
	switch kind {
	case jute.OpCreate:
		x.path()
	case jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		x.path()
		x.keep(statBytes)
	case jute.OpSetData:
		x.keep(statBytes)
	case jute.OpError:
		x.keep(4)
	}
}
