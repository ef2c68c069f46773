package mysql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/lockstest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// server is a minimal MySQL server for the tests of locks. Its clock is correct.
type server struct {
	rows     map[string]mysql.Row
	lastID   int64
	sessions int64
	names    map[string]*session // the holders of named locks
	locked   map[string]*session // the sessions whose transactions have locked a row
}

func newServer() *server {
	return &server{rows: map[string]mysql.Row{}, names: map[string]*session{}, locked: map[string]*session{}}
}

// session is one connection of a client.
type session struct {
	client   *client
	id       int64
	over     bool
	tx       bool
	snapshot *mysql.Row // of the transaction; its resource is "" if the row was missing
}

// fault is the fault of a statement.
type fault uint8

const (
	refused  fault = iota + 1 // it is not sent
	lostCall                  // it is neither executed nor answered
	lostWord                  // it is executed, but not answered
	lateCall                  // it is executed a second after its caller has given up
	over                      // the session had ended
	deadlock                  // the server reports a deadlock
)

// budget limits the statements of a client: more means an endless loop.
const budget = 5000

var errRefused = locks.Definite(fmt.Errorf("not sent"))

// Do borrows a session for a statement.
func (c *client) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	s := c.lend()
	r, err := s.Do(ctx, timeout, cmd)
	s.Return()
	return r, err
}

// Open returns the session that came back last, or a new one.
func (c *client) Open(ctx context.Context, _ time.Duration) (mysql.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, locks.Definite(err)
	}
	return c.lend(), nil
}

func (c *client) lend() *session {
	if n := len(c.idle); n > 0 {
		s := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return s
	}
	c.sessions++
	return &session{client: c, id: c.sessions}
}

func (s *session) ID() int64 { return s.id }

func (s *session) Return() {
	if !s.over {
		s.client.idle = append(s.client.idle, s)
	}
}

func (s *session) Close() {
	s.over = true
	for name, of := range s.client.names {
		if of == s {
			delete(s.client.names, name)
		}
	}
	s.endTx()
}

func (s *session) endTx() {
	s.tx, s.snapshot = false, nil
	for name, of := range s.client.locked {
		if of == s {
			delete(s.client.locked, name)
		}
	}
}

// Do takes a millisecond. The statement is executed half-way, or when its wait is
// over.
func (s *session) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	c := s.client
	if err := ctx.Err(); err != nil {
		return mysql.Reply{}, locks.Definite(err)
	}
	if s.over {
		return mysql.Reply{}, mysql.ErrSessionOver
	}
	c.sent = append(c.sent, words(cmd))
	if len(c.sent) > budget {
		panic(lockstest.Ended{})
	}
	end := c.Time + timeout
	what := c.faults[len(c.sent)]
	if c.unanswered != "" && strings.Contains(words(cmd), c.unanswered) {
		what, c.unanswered = lostWord, ""
	}
	switch what {
	case refused:
		return mysql.Reply{}, errRefused
	case over:
		s.Close()
		return mysql.Reply{}, mysql.ErrSessionOver
	case deadlock:
		s.endTx()
		return mysql.Reply{Code: mysql.DeadlockFound}, nil
	case lostCall:
		c.Pass(end)
		s.Close()
		return mysql.Reply{}, mysql.ErrTimeout
	case lateCall:
		c.Start(func(context.Context) {
			c.Pass(end + second)
			s.execute(cmd)
			s.Close()
		})
		c.Pass(end)
		s.over = true
		return mysql.Reply{}, mysql.ErrTimeout
	}
	c.Pass(c.Time + c.slow + ms/2)
	for waited := c.Time; s.waits(cmd) && c.Time < end; c.Pass(c.Time + ms) {
		if cmd.Verb == mysql.GetLock && c.Time-waited >= cmd.Wait {
			c.Pass(c.Time + ms/2)
			return mysql.Reply{}, nil
		}
	}
	if s.waits(cmd) {
		s.Close()
		return mysql.Reply{}, mysql.ErrTimeout
	}
	r := s.execute(cmd)
	if what == lostWord {
		c.Pass(end)
		s.Close()
		return mysql.Reply{}, mysql.ErrTimeout
	}
	c.Pass(c.Time + ms/2)
	return r, nil
}

// waits reports whether another session blocks the statement.
func (s *session) waits(cmd mysql.Command) bool {
	of := s.client.locked[cmd.Row.Resource]
	switch cmd.Verb {
	case mysql.GetLock:
		of = s.client.names[cmd.Name]
	case mysql.SelectForUpdate:
	default:
		return false
	}
	return of != nil && of != s
}

func (s *session) execute(cmd mysql.Command) (r mysql.Reply) {
	c := s.client
	switch cmd.Verb {
	case mysql.Select, mysql.SelectForUpdate:
		row, found := c.rows[cmd.Row.Resource]
		if cmd.Verb == mysql.SelectForUpdate && found && s.tx {
			c.locked[row.Resource] = s
		}
		if cmd.Verb == mysql.Select && s.tx {
			if s.snapshot == nil {
				s.snapshot = &row
			}
			row, found = *s.snapshot, s.snapshot.Resource != ""
		}
		return mysql.Reply{Found: found, Row: row, Now: c.ms()}
	case mysql.Insert:
		if _, found := c.rows[cmd.Row.Resource]; found {
			return mysql.Reply{Code: mysql.Duplicate}
		}
		c.lastID++
		row := cmd.Row
		row.ID = c.lastID
		c.put(row, cmd.Lease)
		return mysql.Reply{ID: row.ID}
	case mysql.Update, mysql.Delete:
		for _, row := range c.rows {
			if !agrees(row, cmd.Match, cmd.Where) {
				continue
			}
			if cmd.Verb == mysql.Delete {
				delete(c.rows, row.Resource)
			} else {
				c.put(merge(row, cmd.Row, cmd.Set), cmd.Lease)
			}
			return mysql.Reply{Affected: 1}
		}
	case mysql.Begin:
		s.endTx()
		s.tx = true
	case mysql.Commit, mysql.Rollback:
		s.endTx()
	case mysql.GetLock:
		c.names[cmd.Name] = s
		return mysql.Reply{Int: 1}
	case mysql.ReleaseLock:
		if c.names[cmd.Name] != s {
			return mysql.Reply{Null: c.names[cmd.Name] == nil}
		}
		delete(c.names, cmd.Name)
		return mysql.Reply{Int: 1}
	}
	return mysql.Reply{}
}

// ms returns the server's clock.
func (c *client) ms() int64 { return time.Unix(1000, 0).Add(c.Time).UnixMilli() }

func (c *client) put(row mysql.Row, lease time.Duration) {
	if lease > 0 {
		row.Expires = c.ms() + lease.Milliseconds()
	}
	c.rows[row.Resource] = row
}

// merge returns row with the columns set of values.
func merge(row, values mysql.Row, set mysql.Columns) mysql.Row {
	for column, assign := range map[mysql.Columns]func(){
		mysql.Version: func() { row.Version = values.Version },
		mysql.Expires: func() { row.Expires = values.Expires },
		mysql.Queue:   func() { row.Queue = values.Queue },
		mysql.Owner:   func() { row.Owner = values.Owner },
	} {
		if set&column != 0 {
			assign()
		}
	}
	return row
}

func agrees(a, b mysql.Row, where mysql.Columns) bool {
	return (where&mysql.ID == 0 || a.ID == b.ID) && (where&mysql.Resource == 0 || a.Resource == b.Resource) &&
		(where&mysql.Version == 0 || a.Version == b.Version) && (where&mysql.Owner == 0 || a.Owner == b.Owner)
}

// words formats a statement for the tests.
func words(c mysql.Command) string {
	row := func(r mysql.Row, columns mysql.Columns) (w []string) {
		for _, x := range []struct {
			column mysql.Columns
			text   string
		}{
			{mysql.ID, fmt.Sprint("id=", r.ID)},
			{mysql.Resource, r.Resource},
			{mysql.Version, fmt.Sprint("v", r.Version)},
			{mysql.Expires, fmt.Sprint("expires=", r.Expires)},
			{mysql.Queue, "queue=" + text(r.Queue)},
			{mysql.Owner, "owner=" + text(r.Owner)},
		} {
			if columns&x.column != 0 {
				w = append(w, x.text)
			}
		}
		return w
	}
	lease := func(r mysql.Row, columns mysql.Columns) []string {
		if c.Lease == 0 {
			return row(r, columns)
		}
		return append(row(r, columns&^mysql.Expires), "lease="+c.Lease.String())
	}
	switch c.Verb {
	case mysql.Select:
		return "select " + c.Row.Resource
	case mysql.SelectForUpdate:
		return "select " + c.Row.Resource + " for update"
	case mysql.Insert:
		return strings.Join(slices.Concat([]string{"insert"}, lease(c.Row, mysql.Resource|mysql.Version|mysql.Expires|mysql.Queue|mysql.Owner)), " ")
	case mysql.Update:
		return strings.Join(slices.Concat([]string{"update"}, lease(c.Row, c.Set), []string{"where"}, row(c.Match, c.Where)), " ")
	case mysql.Delete:
		return strings.Join(slices.Concat([]string{"delete", "where"}, row(c.Match, c.Where)), " ")
	case mysql.GetLock:
		return fmt.Sprint("get_lock ", c.Name, " ", c.Wait)
	case mysql.ReleaseLock:
		return "release_lock " + c.Name
	case mysql.Kill:
		return fmt.Sprint("kill ", c.Int)
	case mysql.SetWaitTimeout:
		return fmt.Sprint("set wait_timeout ", c.Wait)
	case mysql.Isolate:
		return "set " + c.Isolation.String()
	}
	return map[mysql.Verb]string{mysql.Begin: "begin", mysql.Commit: "commit", mysql.Rollback: "rollback", mysql.Ping: "ping"}[c.Verb]
}

func text(t mysql.Text) string {
	if !t.Valid {
		return "NULL"
	}
	return t.S
}
