package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// What can become of a request.
var (
	errReset       = errors.New("connection reset by peer")
	errUnreachable = locks.Definite(errors.New("cannot connect"))
)

// conn is one TCP connection: in order in each direction, and not across
// connections. A client that has given up on an answer leaves its connection
// and opens another, so an answer that comes late answers nothing; what the
// client had sent may still arrive.
type conn struct {
	client *client
	server *server
	// incarnation is the process of the server that accepted it; 0: none has.
	// To every other process it is unknown.
	incarnation int
	open        bool // the client may use it
	busy        bool // one of its tasks does
	silent      bool // nothing travels on it any more
	up          time.Duration
	down        time.Duration // when the last message of that direction arrives
	waiter      *task         // waits for the answer to what was sent last
	number      int           // among the connections of the two, from 1

	// To a member of an ensemble, or a MySQL server:
	session int64      // that it carries, once the server has said so
	asked   []*message // what the server has not answered, in order
	gone    bool       // the server has ended it
	// To a member:
	library *session // whose it is
	serving bool     // somebody else has to decide on the first of what is asked
}

// connect is a connection that no server has accepted yet.
func (w *World) connect(c *client, s *server) *conn {
	n := w.memory.conns.next()
	*n = conn{client: c, server: s, number: 1, asked: n.asked[:0]}
	for _, list := range [][]*conn{c.conns, c.spare} {
		for _, other := range list {
			if other.server == s {
				n.number = max(n.number, other.number+1)
			}
		}
	}
	return n
}

// kind of a message.
type kind uint8

const (
	dial   kind = iota // asks for a connection, and the answer to it
	call               // a request, and its reply
	rst                // the connection is reset
	notice             // a Sentinel says who is the master of its node, or a member what a watch has seen
)

// message travels on a connection. A reply is the request's own message, on
// its way back.
type message struct {
	conn    *conn
	kind    kind
	toUp    bool // to the server
	op      int  // index of the invoke that it belongs to
	command redis.Command
	reply   redis.Reply
	access  env.Access // of the guarded resource, instead of command
	answer  env.Answer
	master  *server // of a Sentinel's notice
	err     error
	zk      *packet    // of ZooKeeper's messages
	sql     *statement // of MySQL's
	member  *member    // that was asked, where another one answers
}

// newMessage is a message from the client's end of n, or to it. What it carries
// is what the last one in its place did: a request is written over by whoever
// sends it, and an answer by the server.
func (w *World) newMessage(n *conn, k kind, toUp bool) *message {
	var m *message
	if last := len(w.free) - 1; last >= 0 {
		m = w.free[last]
		w.free = w.free[:last]
	} else {
		m = w.memory.messages.next()
	}
	if w.order != nil {
		*m = message{} // a state must not tell what happened in another run
	}
	m.conn, m.kind, m.toUp, m.err = n, k, toUp, nil
	return m
}

// send puts m on its way.
func (w *World) send(m *message) {
	c := m.conn
	if m.lost() {
		w.free = append(w.free, m)
		return
	}
	var slow time.Duration
	for _, im := range w.impairments {
		if im.Action == faults.Slow && im.matches(m) {
			im.hits++
			slow += im.Delay
		}
	}
	l := &c.server.links[c.client.n]
	if pct := w.choices.pct; pct != nil {
		pct.send(w, m, l.next(), slow)
		return
	}
	latency := slow
	if w.order == nil {
		latency += latencyMin + time.Duration(w.choose(l, w.latencies))*time.Microsecond
	}
	last := &c.down
	if m.toUp {
		last = &c.up
	}
	at := max(w.now+latency, *last)
	*last = at
	w.push(event{at: at, what: m})
}

// happen is m's arrival.
func (m *message) happen(w *World) {
	c := m.conn
	if m.lost() {
		w.free = append(w.free, m)
		return
	}
	for _, im := range w.impairments {
		if !im.matches(m) {
			continue
		}
		switch im.Action {
		case faults.Hold:
			im.hits++
			im.held = append(im.held, m)
			return
		case faults.Swallow, faults.Reset:
			if im.hits > 0 || m.kind != call || m.library() {
				continue
			}
			im.hits++
			c.silent = true
			if im.Action == faults.Reset {
				c.sever()
			}
			w.free = append(w.free, m)
			return
		}
	}
	if m.toUp {
		c.server.receive(m)
	} else {
		c.client.receive(m)
	}
}

// lost tells whether m is on a connection on which nothing travels any more. To a
// server that has sessions the end of one does, whatever was dropped before.
func (m *message) lost() bool {
	return m.conn.silent && !(m.conn.server.database != nil && m.toUp && m.kind == rst)
}

// library tells whether m is not a lock's request or its reply, but its library's:
// such is not what a fault is about that strikes one request. (go-zookeeper
// v1.0.4 waits 6.7 T for the answer to its hello, so losing that says more about
// the library than about a lock.)
func (m *message) library() bool {
	return m.conn.library != nil && (m.zk.ask == hello || m.zk.ask == ping)
}

// reset ends the connection at the client's end. What the client had sent may
// still arrive, and bring another reset.
func (c *conn) reset() {
	c.open = false
	if c.library != nil {
		c.server.member.leave(c)
		c.library.receive(c.client.world.newMessage(c, rst, false))
		return
	}
	if t := c.waiter; t != nil {
		c.waiter = nil
		t.err = errReset
		t.answer()
	}
}

// sever ends the connection at both ends, as who stands between them may. Only
// to a server whose sessions end with their connections that is something.
func (c *conn) sever() {
	c.reset()
	if c.server.database != nil {
		c.server.receive(c.client.world.newMessage(c, rst, true))
	}
}

// leave ends the connection because its client does not want it any more. Several
// tasks may wait on such connections, so each has its own turn.
func (c *conn) leave() {
	c.open = false
	if t := c.waiter; t != nil {
		c.waiter = nil
		t.err, t.answered = errReset, true
		t.wakeAt(c.client.world.now)
	}
}

// link is where the messages between a client and a server are named.
type link struct {
	name string // as "c2→redis-1"
	n    int    // messages so far, where choices are named
}

// choose draws a latency for the next message on l.
func (w *World) choose(l *link, n int64) int64 {
	if !w.choices.named() {
		return w.choices.draw(n)
	}
	return w.choices.choose(l.next(), n)
}

// next names the next message's latency.
func (l *link) next() env.Name {
	l.n++
	return env.Name{What: "latency", Who: l.name, N: l.n}
}

// impairment is a disturbance in force.
type impairment struct {
	faults.Impairment
	id      int
	process *client // the first of it
	held    []*message
	hits    int
}

func (im *impairment) matches(m *message) bool {
	return m.conn.client.first == im.process && m.conn.server.name == im.Server &&
		(im.Direction == faults.Both || (im.Direction == faults.ToServer) == m.toUp)
}

// Impair disturbs a link until Restore.
func (w *World) Impair(id int, im faults.Impairment) error {
	c := w.find(im.Client)
	if c == nil || w.server(im.Server) == nil {
		return fmt.Errorf("sim: no link between %q and %q", im.Client, im.Server)
	}
	w.impairments = append(w.impairments, &impairment{Impairment: im, id: id, process: c.first})
	return nil
}

// Restore ends a disturbance or an isolation; what it held arrives now, in order.
func (w *World) Restore(id int) (hits int, err error) {
	for i, is := range w.isolations {
		if is.id == id {
			w.isolations = append(w.isolations[:i:i], w.isolations[i+1:]...)
			w.look()
			return 0, nil
		}
	}
	for i, im := range w.impairments {
		if im.id == id {
			w.impairments = append(w.impairments[:i], w.impairments[i+1:]...)
			for _, m := range im.held {
				w.pushFirst(event{at: w.now, what: m})
			}
			return im.hits, nil
		}
	}
	return 0, fmt.Errorf("sim: no disturbance %d is in force", id)
}
