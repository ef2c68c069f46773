// Package client is the real MySQL behind the port: go-sql-driver/mysql through
// database/sql, told to say honestly what became of a statement.
//
// Each statement is one packet and one answer. The driver fills in its
// arguments itself and sends it as text, because a prepared statement takes a
// round trip more on each connection that it is new to.
package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/lockcheck/lockcheck/locks"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// User and Database are those of Options that name none.
const (
	User     = "lockcheck"
	Database = "lockcheck"
)

// Options says where the server is and how long to wait for it.
type Options struct {
	// Addr is the server's host:port.
	Addr string
	// User and Database: "" stands for the constants of that name.
	User, Database string
	Password       string
	// Timeout is for calls that give none; 0: 3 s.
	Timeout time.Duration
	// Dialer makes connections; nil: TCP.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// Tag, where it is not nil, says on whose behalf a statement with that
	// context is sent. The session has it as @lockcheck while the statement is
	// executed, so that a trigger can write down whose row it is. What is tested
	// stays what it is: the tag goes in the statement's own packet, before it, and
	// so adds no round trip, nothing that can fail by itself, and no lock.
	Tag func(context.Context) string
}

// ErrClosed is what calls after Close get, definite, and what those get that
// were under way.
var ErrClosed = errors.New("mysql client: closed")

// Client is a mysql.Transport. It may be used by several goroutines at once.
// Its pool is database/sql's as it comes.
type Client struct {
	options Options
	db      *sql.DB
	life    context.Context // ends with Close
	end     context.CancelCauseFunc

	mu       sync.Mutex
	closed   bool
	calls    sync.WaitGroup
	sessions map[*session]bool
}

// New returns a client. It does not connect: the first call does.
func New(o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	connector, err := o.connector()
	if err != nil {
		return nil, fmt.Errorf("mysql client: %w", err)
	}
	c := &Client{options: o, db: sql.OpenDB(connector), sessions: map[*session]bool{}}
	c.life, c.end = context.WithCancelCause(context.Background())
	return c, nil
}

// Create creates the table of the locks, where it is missing.
func Create(ctx context.Context, o Options) error {
	connector, err := o.connector()
	if err != nil {
		return fmt.Errorf("mysql client: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.ExecContext(ctx, mysql.Schema); err != nil {
		return fmt.Errorf("create table %s: %w", mysql.Table, err)
	}
	return nil
}

// Close closes all connections, those of sessions too, and waits for the calls
// that are under way; they fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	open := c.sessions
	c.sessions = nil
	c.mu.Unlock()
	c.end(ErrClosed)
	for s := range open {
		hangUp(s.conn)
	}
	err := c.db.Close()
	c.calls.Wait()
	return err
}

// Do is mysql.Transport's. An error is definite exactly when the driver has not
// begun to write the statement.
func (c *Client) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	q, err := c.statement(ctx, cmd)
	if err != nil {
		return mysql.Reply{}, locks.Definite(err)
	}
	wait, done, err := c.begin(c.life, timeout)
	if err != nil {
		return mysql.Reply{}, err
	}
	defer done()
	conn, err := c.take(ctx, wait)
	if err != nil {
		return mysql.Reply{}, err
	}
	r, err := q.send(ctx, wait, conn)
	if errors.Is(err, mysql.ErrSessionOver) {
		err = mysql.ErrNotConnected
	}
	conn.Close() // does nothing where the connection is gone
	return r, err
}

// Open is mysql.Transport's.
func (c *Client) Open(ctx context.Context, timeout time.Duration) (mysql.Session, error) {
	wait, done, err := c.begin(c.life, timeout)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := c.take(ctx, wait)
	if err != nil {
		return nil, err
	}
	s := &session{client: c, conn: conn}
	s.life, s.end = context.WithCancelCause(c.life)
	err = conn.Raw(func(dc any) error {
		s.id = dc.(*connection).id
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.closed {
		s.end(ErrClosed)
		hangUp(conn)
		return nil, locks.Definite(ErrClosed)
	}
	c.sessions[s] = true
	return s, nil
}

// begin begins a call, which Close waits for: wait ends with the time that the
// call has, or with life, and done is called at its end.
func (c *Client) begin(life context.Context, timeout time.Duration) (wait context.Context, done func(), err error) {
	if timeout <= 0 {
		timeout = c.options.Timeout
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, locks.Definite(ErrClosed)
	}
	c.calls.Add(1)
	wait, stop := context.WithTimeoutCause(life, timeout, mysql.ErrTimeout)
	return wait, func() { stop(); c.calls.Done() }, nil
}

// take takes a connection out of the pool, or makes one. Its errors are
// definite.
//
// What database/sql tries again it tries in here. The statement itself is sent
// on the connection that was taken, and never twice.
func (c *Client) take(ctx, wait context.Context) (*sql.Conn, error) {
	until, cancel := context.WithCancelCause(wait)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	conn, err := c.db.Conn(until)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, locks.Definite(context.Cause(ctx))
	case c.life.Err() != nil:
		return nil, locks.Definite(ErrClosed)
	}
	return nil, fmt.Errorf("%w: %v", mysql.ErrNotConnected, err)
}

// hangUp closes a connection, which goes into no pool.
func hangUp(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn })
}

// connector makes connections as o says.
func (o Options) connector() (driver.Connector, error) {
	f := mysqldriver.NewConfig()
	f.Net, f.Addr, f.Passwd = "tcp", o.Addr, o.Password
	f.User, f.DBName = User, Database
	if o.User != "" {
		f.User = o.User
	}
	if o.Database != "" {
		f.DBName = o.Database
	}
	f.DialFunc = o.Dialer
	f.InterpolateParams = true
	f.MultiStatements = o.Tag != nil
	f.ClientFoundRows = true            // Affected counts as JDBC does
	f.Logger = &mysqldriver.NopLogger{} // what went wrong is in the errors
	inner, err := mysqldriver.NewConnector(f)
	return connector{inner}, err
}

// connector makes connections that know their number.
type connector struct{ driver.Connector }

// connection is the driver's, and what it can do for database/sql.
type connection struct {
	driverConn
	id int64 // CONNECTION_ID()
}

type driverConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

func (k connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{driverConn: inner.(driverConn)}
	if c.id, err = c.number(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Greeting is the first statement on each connection. It is no lock's: it asks for the
// connection's number, which the driver keeps to itself.
const Greeting = "SELECT CONNECTION_ID()"

// number is the connection's.
func (c *connection) number(ctx context.Context) (int64, error) {
	rows, err := c.QueryContext(ctx, Greeting, nil)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var row [1]driver.Value
	if err := rows.Next(row[:]); err != nil {
		return 0, err
	}
	id, ok := row[0].(int64)
	if !ok {
		return 0, mysql.ErrProtocol
	}
	return id, nil
}
