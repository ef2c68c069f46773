// Package wire is ZooKeeper's protocol as client libraries speak it: a client's bytes
// become requests for the model, and the model's answers become bytes. It has no
// connections and no clock.
//
// The bytes are those of ZooKeeper 3.8, with these exceptions:
//
//   - There are no permissions. ACLs are ignored, and every authentication succeeds.
//   - The model has no clock, so the times of a Stat are 0.
//   - The model knows no difference between no data and empty data: data is empty.
//   - The greeting's answer lacks the flag of read-only servers, as for clients that
//     do not send it. Other clients accept that, too.
//
// Source: Apache ZooKeeper 3.8, zookeeper.jute, ZooKeeperServer,
// FinalRequestProcessor and NIOServerCnxn.
package wire

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// Kind is the kind of a Request.
type Kind uint8

// The kinds.
const (
	Hello      Kind = iota + 1 // for a session, new or continued: the first request of a connection
	Call                       // to execute a Command
	Ping                       // a heartbeat
	Farewell                   // to end the session
	SetWatches                 // to set the watches that the client still had after its last connection
	Auth                       // to add credentials, which have no effect
	Unknown                    // anything that the model does not have
)

// Request is one request of a client.
type Request struct {
	Kind    Kind
	Xid     int32             // the client's number of the request, which its answer repeats
	Op      int32             // the protocol's number of the operation; 0: of a Hello or a four-letter word
	Command zookeeper.Command // of a Call

	// Of a Hello: the session to continue (0: a new one) with its password, and the
	// length that the client wants. Zxid, also of SetWatches, is the last transaction
	// that the client has seen.
	Session  int64
	Password []byte
	Length   time.Duration
	Zxid     int64

	// Watches, of SetWatches, are ordered by kind and path: go-zookeeper sends them in
	// the random order of a map, and a run must repeat.
	Watches []model.Watch
	Missing string // of Unknown: the name of the operation, such as "multi"
}

// Parser cuts the bytes of one connection into requests. The zero Parser is ready.
type Parser struct {
	buf     []byte
	read    int // the number of bytes of buf that Next has used
	greeted bool
	err     error
}

// Feed adds bytes of the client. The Parser keeps a copy until Next has read them.
func (p *Parser) Feed(b []byte) {
	if p.err == nil {
		p.buf = append(p.buf[:copy(p.buf, p.buf[p.read:])], b...)
		p.read = 0
	}
}

// maxFrame is the greatest length of a request that a server accepts: its setting
// jute.maxbuffer.
const maxFrame = 0xfffff

// Next returns the next request; ok is false if there is no whole one yet. After an
// error a server closes the connection: Next returns the same error again.
func (p *Parser) Next() (r Request, ok bool, err error) {
	unread := jute.Packet(p.buf[p.read:])
	if p.err != nil || len(unread) < 4 {
		return Request{}, false, p.err
	}
	if word := unread[:4]; !p.greeted && isWord(word) {
		p.read += len(word)
		return Request{Kind: Unknown, Missing: string(word)}, true, nil
	}
	length, rest := unread.Int()
	switch {
	case length < 0 || length > maxFrame:
		return p.fail("a packet of %d bytes; a server accepts %d", length, maxFrame)
	case int(length) > len(rest):
		return Request{}, false, nil
	}
	p.read += 4 + int(length)
	frame := rest[:length]
	if !p.greeted {
		p.greeted = true
		if frame = readHello(frame, &r); frame == nil {
			return p.fail("an incomplete greeting of %d bytes", length)
		}
		return r, true, nil
	}
	if frame = readRequest(frame, &r); frame == nil {
		return p.fail("an incomplete request, %s, of %d bytes", operationOf(r.Op).name, length)
	}
	return r, true, nil
}

func (p *Parser) fail(format string, args ...any) (Request, bool, error) {
	p.buf, p.read = nil, 0
	p.err = fmt.Errorf("not the protocol of ZooKeeper: "+format, args...)
	return Request{}, false, p.err
}

// isWord reports whether a client sends one of the four-letter words for
// administrators, such as "ruok", and no greeting. As a length it would be too great.
func isWord(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < 'a' || c > 'z' })
}

func readHello(p jute.Packet, r *Request) jute.Packet {
	r.Kind = Hello
	var length int32
	r.Zxid, p = p.Skip(4).Long()
	length, p = p.Int()
	r.Length = time.Duration(length) * time.Millisecond
	r.Session, p = p.Long()
	password, p := p.Buffer()
	r.Password = slices.Clone(password)
	return p
}

// readRequest reads a request after the greeting. It returns nil if it is incomplete.
func readRequest(p jute.Packet, r *Request) jute.Packet {
	r.Xid, p = p.Int()
	r.Op, p = p.Int()
	o := operationOf(r.Op)
	r.Kind, r.Command.Verb = o.kind, o.verb
	if r.Kind == Unknown {
		r.Missing = o.name
	}
	if o.read != nil {
		p = o.read(p, r)
	}
	return p
}

func readPath(p jute.Packet, r *Request) jute.Packet {
	r.Command.Path, p = p.Text()
	return p
}

func readWatch(p jute.Packet, r *Request) jute.Packet {
	p = readPath(p, r)
	r.Command.Watch, p = p.Bool()
	return p
}

func readVersion(p jute.Packet, r *Request) jute.Packet {
	p = readPath(p, r)
	r.Command.Version, p = p.Int()
	return p
}

func readData(p jute.Packet, r *Request) jute.Packet {
	p = readPath(p, r)
	r.Command.Data, p = p.Text()
	return p
}

func readSetData(p jute.Packet, r *Request) jute.Packet {
	p = readData(p, r)
	r.Command.Version, p = p.Int()
	return p
}

// readCreate reads the request for a new node. Other kinds of nodes than the model's
// are Unknown. So is a node without permissions, which a server refuses.
func readCreate(p jute.Packet, r *Request) jute.Packet {
	p = readData(p, r)
	acls, p := p.SkipACLs()
	flags, p := p.Int()
	r.Command.Mode = zookeeper.Mode(flags)
	const all = zookeeper.Ephemeral | zookeeper.Sequential
	switch {
	case flags < 0 || flags > int32(all):
		r.Missing = fmt.Sprintf("create with the flags %d", flags)
	case acls == 0:
		r.Missing = "create without permissions"
	default:
		return p
	}
	r.Kind, r.Command = Unknown, zookeeper.Command{}
	return p
}

func readWatches(p jute.Packet, r *Request) jute.Packet {
	r.Zxid, p = p.Long()
	for _, kind := range [...]model.WatchKind{model.DataWatch, model.ExistWatch, model.ChildWatch} {
		from := len(r.Watches)
		p = p.List(func(p jute.Packet) jute.Packet {
			path, p := p.Text()
			r.Watches = append(r.Watches, model.Watch{Kind: kind, Path: path})
			return p
		})
		slices.SortFunc(r.Watches[from:], func(a, b model.Watch) int { return cmp.Compare(a.Path, b.Path) })
	}
	return p
}
