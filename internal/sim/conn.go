package sim

import (
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	"github.com/lockcheck/lockcheck/locks"
)

// These are the errors of a request.
var (
	errReset       = errors.New("connection reset by peer")
	errHungUp      = errors.New("connection closed by the server")
	errUnreachable = locks.Definite(errors.New("cannot connect"))
)

// endpoint is a client's end of the network: its host and its connections.
type endpoint struct {
	host
	net   *network
	first *endpoint // of the first of the clients in its process
	conns []*conn   // by server; clients are connected when a run begins
	spare []*conn   // more of them, for tasks that use the same server at the same time
	pool  *connPool // of its process, to a MySQL server; nil without one

	wires []*Wire       // of code outside
	lives map[int64]int // of the ensemble, by the sessions of these
}

// conn is one TCP connection. Messages of one direction arrive in order;
// connections have no order among each other. A client that gives up an answer
// leaves the connection and opens another, so a late answer is ignored. Requests
// that the client has sent may still arrive.
type conn struct {
	client *endpoint
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
	owner       receiver      // a client library that gets the messages instead; nil: none
	number      int           // among the connections between the two, from 1

	// To a member of an ensemble or a MySQL server:
	session int64      // the session that it carries, after the server's greeting
	asked   []*message // requests without an answer, in order
	gone    bool       // the server has closed it
	serving bool       // to a member: another process must decide the first of asked

	front any // of a Wire: the state of the server's protocol
}

// receiver is an end of connections above the network: a client library, or a
// member of an ensemble.
type receiver interface{ receive(m *message) }

// connPool is a process's pool in database/sql: its connections, and the idle
// ones among them. The connection that came back last is at the end.
type connPool struct {
	client *endpoint // the first of the process; its links are used
	conns  []*conn
	idle   []*conn
	made   int // connections so far
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
	noted   int        // its number in the record of the run's messages; 0: none
	zk      *packet    // in ZooKeeper's messages
	sql     *statement // in MySQL's messages
	wired   *wired     // in messages on a Wire
}

// statement is the part of a message that only MySQL's messages have.
type statement struct {
	command mysql.Command
	reply   mysql.Reply
}

// packet is the part of a message that only ZooKeeper's messages have.
type packet struct {
	ask     ask
	command zookeeper.Command
	reply   zookeeper.Reply
	session int64
	life    int // of the ensemble in which session began
	length  time.Duration
	zxid    int64         // the greatest that the client has seen; in the answer, the server's
	watches []model.Watch // of a hello: go-zookeeper sends them right after it
	event   zookeeper.Event
	ended   bool // answer: the session has ended
	moved   bool // answer: another connection carries the session
}

// ask is the purpose of a packet.
type ask uint8

const (
	request  ask = iota // its command
	hello               // a session, new or continued
	ping                // nothing: a heartbeat
	rewatch             // sets watches again
	farewell            // the session's end
)

// connect connects a client that has just been reset to all servers of n.
func (e *endpoint) connect(n *network) {
	for _, s := range n.servers {
		s.links = append(s.links, link{name: n.text.join(e.name, "→", s.name)})
		c := n.connect(e, s)
		// The ZooKeeper library connects to a member itself, and the process's
		// pool to MySQL.
		c.incarnation, c.open = s.incarnation, s.member == nil && s.database == nil
		e.conns = append(e.conns, c)
	}
}

// eachConn calls f for every connection of the client.
func (e *endpoint) eachConn(f func(*conn)) {
	for _, c := range e.conns {
		f(c)
	}
	for _, c := range e.spare {
		f(c)
	}
	if e.pool != nil && e == e.first {
		for _, c := range e.pool.conns {
			f(c)
		}
	}
}

// receive handles a message that arrives at the client.
func (c *conn) receive(m *message) {
	if c.owner != nil {
		c.owner.receive(m)
		return
	}
	t := c.waiter
	switch {
	case m.kind == rst:
		c.reset()
		t = nil
	case t != nil:
		// The kernel has the connection now, whether or not the client runs.
		c.open = m.err == nil
		c.waiter, t.err, t.reply, t.result = nil, m.err, m.reply, m.answer
		if c.server.database != nil && m.kind == call {
			t.rows = m.sql.reply
		}
	}
	c.client.net.release(m)
	if t != nil {
		t.answer()
	}
}

// reset ends the connection at the client's end. Requests that the client has
// sent may still arrive, and cause another reset.
func (c *conn) reset() {
	c.open = false
	if c.owner != nil {
		c.owner.receive(c.client.net.newMessage(c, rst, false))
		return
	}
	if t := c.waiter; t != nil {
		c.waiter = nil
		t.err = errReset
		t.answer()
	}
}

// sever ends the connection at both ends, as a network device between them can.
// The server's end matters only to a server with sessions.
func (c *conn) sever() {
	c.reset()
	if c.server.database != nil || c.server.member != nil {
		c.server.receive(c.client.net.newMessage(c, rst, true))
	}
}

// leave ends the connection on the client's side. Several tasks may wait on such
// connections, so each is woken in its own turn.
func (c *conn) leave() {
	c.open = false
	if t := c.waiter; t != nil {
		c.waiter = nil
		t.err, t.answered = errReset, true
		t.wakeAt(c.client.sched.now)
	}
}

// carrier returns the connection that carries a session, or nil.
func carrier(conns []*conn, session int64) *conn {
	for _, n := range conns {
		if n.session == session {
			return n
		}
	}
	return nil
}

// isLost reports whether m is on a silent connection. A reset on its way to a
// server whose sessions end with their connections always arrives.
func (m *message) isLost() bool {
	return m.conn.silent && !(m.conn.server.database != nil && m.toUp && m.kind == rst)
}

// fromLibrary reports whether m belongs to the client library and not to a lock's
// request. A fault that strikes one request does not apply to it. (go-zookeeper
// v1.0.4 waits 6.7 T for the answer to its hello, so losing that would test the
// library more than a lock.)
func (m *message) fromLibrary() bool {
	switch {
	case m.wired != nil:
		return m.wired.Library
	case m.zk != nil:
		return m.conn.owner != nil && (m.zk.ask == hello || m.zk.ask == ping)
	}
	return false
}
