package sim

import (
	"context"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// mysqlTransport is the client's way to a MySQL server: the pool of its process.
type mysqlTransport client

// statement returns a message that carries cmd.
func (n *network) statement(c *conn, cmd *mysql.Command) *message {
	m := n.newMessage(c, call, true)
	if m.sql == nil {
		m.sql = new(statement)
	}
	m.sql.command = *cmd
	return m
}

// reset gives p one connection, as clients have with every server.
func (p *connPool) reset(c *endpoint) {
	*p = connPool{client: c, conns: p.conns[:0], idle: p.idle[:0]}
	n := p.connect()
	n.open = true
	n.server.database.accept(n)
	p.idle = append(p.idle, n)
}

// connect returns a connection to the clients' address that the server has not
// accepted yet.
func (p *connPool) connect() *conn {
	w := p.client.net
	n := w.connect(p.client, w.databases.primary.server)
	p.made++
	n.number = p.made
	p.conns = append(p.conns, n)
	return n
}

// take returns an idle connection: the live one that came back last, or a new
// one.
func (p *connPool) take(c *client, until time.Duration) (*conn, error) {
	for last := len(p.idle) - 1; last >= 0; last-- {
		n := p.idle[last]
		p.idle = p.idle[:last]
		if n.open {
			return n, nil
		}
		p.forget(n)
	}
	n := p.connect()
	err := c.await(c.net.newMessage(n, dial, true), until)
	if err == nil && !n.open { // it was reset during a pause
		err = errReset
	}
	c.journal.failure(err)
	switch err {
	case nil:
		return n, nil
	case env.ErrTimeout:
		n.close()
	}
	p.forget(n)
	return nil, mysql.ErrNotConnected
}

// put takes back a connection from its user.
func (p *connPool) put(n *conn) {
	switch {
	case !n.open:
		p.forget(n)
	case len(p.idle) == mysql.MaxIdle:
		n.close()
		p.forget(n)
	default:
		p.idle = append(p.idle, n)
	}
}

func (p *connPool) forget(n *conn) {
	p.conns = slices.DeleteFunc(p.conns, func(o *conn) bool { return o == n })
}

// close ends the connection on the client's side. A task that waits for an answer
// on it gets an error.
func (n *conn) close() {
	n.leave()
	w := n.client.net
	w.send(w.newMessage(n, rst, true))
}

// hangUp closes all connections, as a kernel does after the end of a process.
func (p *connPool) hangUp() {
	for _, n := range p.conns {
		if n.open || n.waiter != nil {
			n.close()
		}
	}
}

// execute sends one statement and returns its result.
func (c *client) execute(n *conn, until time.Duration, cmd *mysql.Command) (mysql.Reply, error) {
	err := c.await(c.net.statement(n, cmd), until)
	switch err {
	case nil:
		r := c.net.current.rows
		c.journal.rows(&r)
		return r, nil
	case env.ErrTimeout:
		n.close()
		err = mysql.ErrTimeout
	default:
		err = mysql.ErrConnectionLost
	}
	c.journal.failure(err)
	return mysql.Reply{}, err
}

// Do executes one statement on a connection of the pool.
func (t *mysqlTransport) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	c := (*client)(t)
	if err := c.countCall(ctx); err != nil {
		return mysql.Reply{}, err
	}
	r := c.beginRequest(cmd.Verb)
	until := c.until(timeout)
	n, err := c.pool.take(c, until)
	var reply mysql.Reply
	if err == nil {
		reply, err = c.execute(n, until, &cmd)
		c.pool.put(n)
	}
	c.finish(r)
	return reply, err
}

// Open takes a connection out of the pool.
func (t *mysqlTransport) Open(ctx context.Context, timeout time.Duration) (mysql.Session, error) {
	c := (*client)(t)
	if err := c.countCall(ctx); err != nil {
		return nil, err
	}
	n, err := c.pool.take(c, c.until(timeout))
	if err != nil {
		return nil, err
	}
	s := c.pinned.next()
	*s = pinnedConn{client: c, conn: n}
	return s, nil
}

// pinnedConn is a mysql.Session: a connection out of the pool.
type pinnedConn struct {
	client *client
	conn   *conn
	over   bool // it was returned or closed
}

// ID returns the server's number for the session.
func (s *pinnedConn) ID() int64 {
	s.client.journal.number(s.conn.session)
	return s.conn.session
}

// Do executes one statement.
func (s *pinnedConn) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (reply mysql.Reply, err error) {
	c := s.client
	if err := c.countCall(ctx); err != nil {
		return mysql.Reply{}, err
	}
	r := c.beginRequest(cmd.Verb)
	if s.over || !s.conn.open {
		err = mysql.ErrSessionOver
		c.journal.failure(err)
	} else {
		reply, err = c.execute(s.conn, c.until(timeout), &cmd)
	}
	c.finish(r)
	return reply, err
}

// Return returns the connection to the pool.
func (s *pinnedConn) Return() {
	s.client.mustLive()
	if !s.over {
		s.over = true
		s.client.pool.put(s.conn)
	}
}

// Close closes the connection.
func (s *pinnedConn) Close() {
	s.client.mustLive()
	if s.over {
		return
	}
	s.over = true
	if s.conn.open {
		s.conn.close()
	}
	s.client.pool.forget(s.conn)
}
