package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zkmodel "github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// Wire is a connection of code outside to a server. Its methods are called in the
// scheduler's turn.
type Wire struct {
	client *endpoint
	conn   *conn
	end    WireEnd
	closed bool
	kept   []*message // arrived during a pause of the client
	unsent []*message // sent during a pause of the client
}

// WireEnd is what the code outside has of a Wire.
type WireEnd interface {
	Dialed(err error)  // the answer to Dial
	Answer(WireAnswer) // a server's message
	Reset(ended bool)  // the connection is over; ended: the server has closed it
}

// WireRequest is one request.
type WireRequest struct {
	Name    fmt.Stringer // of the command, for points
	Library bool         // it belongs to the client library, not to a lock
	Late    bool         // it belongs to an operation that is over
	Words   []string     // to a Redis server or a Sentinel

	// To a member of an ensemble:
	Hello   *WireHello
	Ping    bool
	Close   bool // of the session
	Rewatch bool // sets Watches again, after a new connection, with Zxid
	Watches []zkmodel.Watch
	Zxid    int64
	Command zookeeper.Command
}

// WireHello asks a member for a session.
type WireHello struct {
	Session int64 // 0: a new one
	Length  time.Duration
	Zxid    int64
}

// WireAnswer is one message of a server.
type WireAnswer struct {
	Data      []byte // of a Redis server or a Sentinel
	Prolonged int    // the acquire whose entry the request has prolonged, as its client sees it; 0: none

	// Of a member of an ensemble:
	Event   zookeeper.Event // of a watch; its Type is 0 in an answer
	Reply   zookeeper.Reply
	Zxid    int64
	Session int64
	Length  time.Duration
	Ended   bool // the session has ended
}

// wired is the part of a message that only messages on a Wire have.
type wired struct {
	WireRequest
	data     []byte
	from     time.Duration // when it was sent
	instants []string      // the keys that it lets end at an instant of the client's clock
	timeout  bool          // it has waited for its answer until its timeout
	grant    int           // the acquire of the grant that it is for; 0: none
	noted    int           // the acquire whose entry it has made or prolonged, as its client sees it; 0: none
	point    numberedRequest
	last     bool // of the operation's requests
}

// send sends m, or keeps it while the client is paused.
func (x *Wire) send(m *message) {
	switch {
	case x.client.dead:
		x.client.net.release(m)
	case x.client.paused:
		x.unsent = append(x.unsent, m)
	default:
		x.client.net.send(m)
	}
}

// Ask sends a request.
func (x *Wire) Ask(r WireRequest) {
	c := x.client
	if x.closed || c.dead {
		return
	}
	n := c.net
	m := n.newMessage(x.conn, call, true)
	m.op = c.opIndex()
	m.wired = &wired{WireRequest: r, from: n.now}
	if x.conn.server.member != nil {
		m.zk = packetOf(&r)
		m.zk.life = c.lives[m.zk.session]
	}
	if r.Late {
		m.op = 0
	} else if c.operation != nil {
		m.wired.grant = c.operation.Acquire
	}
	if o := c.operation; o != nil && !r.Library && !r.Late {
		o.requests++
		n.requests++
		m.wired.point, m.wired.last = numberedRequest{o, o.requests, r.Name}, o.requests == c.lastRequest(o)
		c.tell(m.wired.point, m.wired.last, false)
		if c.dead {
			return
		}
	}
	x.send(m)
}

// packetOf returns a request as members get it.
func packetOf(r *WireRequest) *packet {
	p := &packet{ask: request, command: r.Command, zxid: r.Zxid, watches: r.Watches}
	switch {
	case r.Hello != nil:
		p.ask, p.session, p.length, p.zxid = hello, r.Hello.Session, r.Hello.Length, r.Hello.Zxid
	case r.Ping:
		p.ask = ping
	case r.Close:
		p.ask = farewell
	case r.Rewatch:
		p.ask = rewatch
	}
	return p
}

// Close closes the connection.
func (x *Wire) Close() {
	c := x.client
	if x.closed {
		return
	}
	x.closed = true
	c.wires = slices.DeleteFunc(c.wires, func(o *Wire) bool { return o == x })
	c.spare = slices.DeleteFunc(c.spare, func(o *conn) bool { return o == x.conn })
	if x.conn.open && !c.dead {
		x.conn.open = false
		x.send(c.net.newMessage(x.conn, rst, true))
	}
}

// receive handles a message that arrives at the client.
func (x *Wire) receive(m *message) {
	switch {
	case x.closed || x.client.dead:
		x.client.net.release(m)
	case x.client.paused:
		x.kept = append(x.kept, m)
	default:
		x.take(m)
	}
}

func (x *Wire) take(m *message) {
	c := x.client
	switch {
	case m.kind == rst:
		x.conn.open = false
		x.end.Reset(m.err != nil)
	case m.kind == dial:
		x.conn.open = m.err == nil
		x.end.Dialed(m.err)
	default:
		if w := m.wired; w != nil && w.point.operation != nil {
			p := w.point
			w.point = numberedRequest{}
			p.operation.answered, p.operation.sent = p.n, p.sends
			c.tell(p, w.last, true)
			if c.paused || c.dead {
				x.receive(m)
				return
			}
		}
		if m.zk != nil && m.zk.ask == hello && !m.zk.ended {
			if c.lives == nil {
				c.lives = map[int64]int{}
			}
			c.lives[m.zk.session] = m.zk.life
		}
		x.end.Answer(m.wireAnswer())
	}
	c.net.release(m)
}

// wireAnswer returns m as the code outside gets it.
func (m *message) wireAnswer() (a WireAnswer) {
	if k := m.zk; k != nil {
		a = WireAnswer{Event: k.event, Reply: k.reply, Zxid: k.zxid, Session: k.session, Length: k.length, Ended: k.ended}
	}
	if m.wired != nil {
		a.Data, a.Prolonged = m.wired.data, m.wired.noted
	}
	return a
}

// resumeWires continues after a pause: arrived messages come before written ones.
func (c *endpoint) resumeWires() {
	for _, x := range slices.Clone(c.wires) {
		kept, unsent := x.kept, x.unsent
		x.kept, x.unsent = nil, nil
		for _, m := range kept {
			x.receive(m)
		}
		for _, m := range unsent {
			x.send(m)
		}
	}
}
