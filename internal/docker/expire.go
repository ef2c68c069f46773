package docker

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/jute"
)

// ExpireSession closes the sessions of a client from our own connections, one after
// another, and returns when all have ended: for an ensemble when the learner has seen
// it, or, if the ensemble is no longer observed, when it has answered; for MySQL when
// the server no longer lists them. A client without sessions stays as it is.
func (e *Environment) ExpireSession(client string) error {
	client, err := e.LinkName(client)
	if err != nil {
		return err
	}
	if e.mysql != nil {
		return e.mysql.expire(e.Ctx, client)
	}
	if e.ensemble == nil {
		return fmt.Errorf("docker: %s has no session to close", client)
	}
	for _, s := range e.ensemble.nodes.openSessions(client) {
		err := await(e.Ctx, "the session of "+client+" is closed from elsewhere", func() (bool, error) {
			return e.ensemble.expire(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expire closes a session through any member that serves, and reports whether it has
// ended.
func (e *ensemble) expire(s session) (ended bool, err error) {
	err = clients.ErrDown
	for _, m := range e.members {
		if m.runs() {
			if err = m.expire(s); err == nil {
				break
			}
		}
	}
	e.nodes.mu.Lock()
	defer e.nodes.mu.Unlock()
	return e.nodes.closed[s.id] || err == nil && e.nodes.dropped, err
}

// expire reopens a session and closes it.
func (m *member) expire(s session) error {
	o, err := m.open(s, feedLimit)
	if err != nil {
		return err
	}
	defer o.conn.Close()
	if o.session == 0 {
		return nil // it has ended already
	}
	_, err = o.ask(closingXid, jute.OpCloseSession, nil)
	return err
}

// ownConn is our own connection to a member of an ensemble, with its session; 0: the session
// that it was to reopen has ended.
type ownConn struct {
	conn    net.Conn
	replies *bufio.Reader
	session int64
}

// passwordLength is the length of a session's password, also of one that is to begin.
const passwordLength = 16

// closingXid is the number of a request that closes a session: no client library uses such
// numbers.
const closingXid = -1000

// open opens a session of the shortest length, or reopens one. The member has until the
// limit for all answers.
func (m *member) open(s session, limit time.Duration) (*ownConn, error) {
	conn, err := net.DialTimeout("tcp", m.Addr, feedLimit)
	if err != nil {
		return nil, err
	}
	o := &ownConn{conn: conn, replies: bufio.NewReader(conn)}
	conn.SetDeadline(time.Now().Add(limit))
	// Protocol version 0, no transaction seen.
	hello := jute.AppendInt(jute.AppendLong(jute.AppendInt(nil, 0), 0), int32(2*Tick.Milliseconds()))
	hello = jute.AppendBuffer(jute.AppendLong(hello, s.id), s.password)
	var p jute.Packet
	if _, err = conn.Write(jute.AppendBuffer(nil, hello)); err == nil {
		_, p, err = clients.ReadPacket(o.replies)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	if length, rest := p.Skip(4).Int(); length > 0 {
		o.session, _ = rest.Long()
	}
	return o, nil
}

// ask sends a request, and returns the number of the last transaction before its answer.
func (o *ownConn) ask(xid, op int32, body []byte) (zxid int64, err error) {
	request := append(jute.AppendInt(jute.AppendInt(nil, xid), op), body...)
	if _, err := o.conn.Write(jute.AppendBuffer(nil, request)); err != nil {
		return 0, err
	}
	for {
		_, p, err := clients.ReadPacket(o.replies)
		if err != nil {
			return 0, err
		}
		if got, rest := p.Int(); got == xid {
			zxid, _ = rest.Long()
			return zxid, nil
		}
	}
}
