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
	conn, err := net.DialTimeout("tcp", m.Addr, feedLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(feedLimit))
	// Protocol version 0, no transaction seen, the shortest session.
	hello := jute.AppendInt(jute.AppendLong(jute.AppendInt(nil, 0), 0), int32(2*Tick.Milliseconds()))
	hello = jute.AppendBuffer(jute.AppendLong(hello, s.id), s.password)
	if _, err := conn.Write(jute.AppendBuffer(nil, hello)); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	_, p, err := clients.ReadPacket(r)
	if err != nil {
		return err
	}
	if length, _ := p.Skip(4).Int(); length <= 0 {
		return nil // it has ended already
	}
	bye := jute.AppendInt(jute.AppendInt(nil, closingXid), jute.OpCloseSession)
	if _, err := conn.Write(jute.AppendBuffer(nil, bye)); err != nil {
		return err
	}
	for {
		if _, p, err = clients.ReadPacket(r); err != nil {
			return err
		}
		if xid, _ := p.Int(); xid == closingXid {
			return nil
		}
	}
}

// closingXid is the number of a request that closes a session from elsewhere: no client
// library uses such numbers.
const closingXid = -1000
