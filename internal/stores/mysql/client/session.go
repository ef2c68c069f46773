package client

import (
	"context"
	"database/sql"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// session is a mysql.Session: a connection outside of the pool.
type session struct {
	client *Client
	conn   *sql.Conn
	id     int64
	life   context.Context // ends with the session
	end    context.CancelCauseFunc
}

func (s *session) ID() int64 { return s.id }

// Do implements mysql.Session.
func (s *session) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	q, err := newStatement(cmd)
	if err != nil {
		return mysql.Reply{}, locks.Definite(err)
	}
	wait, done, err := s.client.begin(s.life, timeout)
	if err != nil {
		return mysql.Reply{}, err
	}
	defer done()
	return q.send(ctx, wait, s.conn)
}

// Return implements mysql.Session.
func (s *session) Return() {
	s.forget()
	s.conn.Close()
}

// Close implements mysql.Session. It closes the connection even if a statement is
// under way.
func (s *session) Close() {
	s.forget()
	hangUp(s.conn)
}

// forget takes the connection out of the session and ends the session.
func (s *session) forget() {
	s.end(mysql.ErrConnectionLost)
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	delete(s.client.sessions, s)
}
