package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// These are the errors of a request.
var (
	errReset       = errors.New("connection reset by peer")
	errUnreachable = locks.Definite(errors.New("cannot connect"))
)

// conn is one TCP connection. Messages of one direction arrive in order;
// connections have no order among each other. A client that gives up an answer
// leaves the connection and opens another, so a late answer is ignored. Requests
// that the client has sent may still arrive.
type conn struct {
	client *client
	server *server
	// incarnation is the server process that accepted the connection; 0 before.
	// Every other process does not know it.
	incarnation int
	open        bool // the client may use it
	busy        bool // one of its tasks uses it
	silent      bool // it loses all messages
	up          time.Duration
	down        time.Duration // when the last message of that direction arrives
	waiter      *task         // the task that waits for the answer to the last request
	number      int           // among the connections between the two, from 1

	// To a member of an ensemble or a MySQL server:
	session int64      // the session that it carries, after the server's greeting
	asked   []*message // requests without an answer, in order
	gone    bool       // the server has closed it
	// To a member:
	library *session // the session that owns it
	serving bool     // another process must decide the first of asked
}

// connect returns a connection that no server has accepted yet.
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

// kind is a message's kind.
type kind uint8

const (
	dial   kind = iota // asks for a connection, and the answer to it
	call               // a request, and its reply
	rst                // the connection is reset
	notice             // a Sentinel announces the master of its node, or a member the event of a watch
)

// message travels on a connection. A reply is the request's own message on its
// way back.
type message struct {
	conn    *conn
	kind    kind
	toUp    bool // to the server
	op      int  // index of the invoke that it belongs to
	command redis.Command
	reply   redis.Reply
	access  env.Access // to the guarded resource, instead of command
	answer  env.Answer
	master  *server // in a Sentinel's notice
	err     error
	zk      *packet    // in ZooKeeper's messages
	sql     *statement // in MySQL's messages
	member  *member    // the member that was asked, while another one answers
}

// newMessage returns a message from the client's end of n, or to it. It may still
// have the contents of an earlier message: the sender overwrites the request, and
// the server the answer.
func (w *World) newMessage(n *conn, k kind, toUp bool) *message {
	var m *message
	if last := len(w.free) - 1; last >= 0 {
		m = w.free[last]
		w.free = w.free[:last]
	} else {
		m = w.memory.messages.next()
	}
	if w.order != nil {
		*m = message{} // a state must not depend on another run
	}
	m.conn, m.kind, m.toUp, m.err = n, k, toUp, nil
	return m
}

// send sends m.
func (w *World) send(m *message) {
	c := m.conn
	if m.isLost() {
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

// happen handles m's arrival.
func (m *message) happen(w *World) {
	c := m.conn
	if m.isLost() {
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
			if im.hits > 0 || m.kind != call || m.fromLibrary() {
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

// isLost reports whether m is on a silent connection. A reset on its way to a
// server with sessions always arrives.
func (m *message) isLost() bool {
	return m.conn.silent && !(m.conn.server.database != nil && m.toUp && m.kind == rst)
}

// fromLibrary reports whether m belongs to the client library and not to a lock's
// request. A fault that strikes one request does not apply to it. (go-zookeeper
// v1.0.4 waits 6.7 T for the answer to its hello, so losing that would test the
// library more than a lock.)
func (m *message) fromLibrary() bool {
	return m.conn.library != nil && (m.zk.ask == hello || m.zk.ask == ping)
}

// reset ends the connection at the client's end. Requests that the client has
// sent may still arrive, and cause another reset.
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

// sever ends the connection at both ends, as a network device between them can.
// The server's end matters only if its sessions end with their connections.
func (c *conn) sever() {
	c.reset()
	if c.server.database != nil {
		c.server.receive(c.client.world.newMessage(c, rst, true))
	}
}

// leave ends the connection on the client's side. Several tasks may wait on such
// connections, so each is woken in its own turn.
func (c *conn) leave() {
	c.open = false
	if t := c.waiter; t != nil {
		c.waiter = nil
		t.err, t.answered = errReset, true
		t.wakeAt(c.client.world.now)
	}
}

// link names and counts the messages between a client and a server.
type link struct {
	name string // as "c2→redis-1"
	n    int    // messages so far, in runs whose choices have names
}

// choose draws a latency for the next message on l.
func (w *World) choose(l *link, n int64) int64 {
	if !w.choices.needsNames() {
		return w.choices.draw(n)
	}
	return w.choices.choose(l.next(), n)
}

// next returns the name of the next message's latency.
func (l *link) next() env.Name {
	l.n++
	return env.Name{What: "latency", Who: l.name, N: l.n}
}

// impairment is an active disturbance.
type impairment struct {
	faults.Impairment
	id      int
	process *client // the first client of the process that it concerns
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

// Restore ends a disturbance or an isolation. Held messages arrive now, in order.
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
