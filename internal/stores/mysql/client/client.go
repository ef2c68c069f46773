// Package client connects the port to a real MySQL server: go-sql-driver/mysql
// through database/sql, configured so that errors are honest about a statement's
// outcome.
//
// Each statement is one packet and one answer. The driver inserts the arguments
// itself and sends text, because a prepared statement takes another round trip on
// each new connection.
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

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// The user and the database of every client.
const (
	User     = "lockcheck"
	Database = "lockcheck"
)

// Options describe the server's address and the timeouts.
type Options struct {
	// Addr is the server's host:port.
	Addr string
	// Timeout is the default of calls without one; 0: 3 s.
	Timeout time.Duration
	// Dialer makes connections; nil: TCP.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// ErrClosed is the error of calls after Close, where it is definite, and of calls
// under way during Close.
var ErrClosed = errors.New("mysql client: closed")

// Client is a mysql.Transport. Several goroutines may use it at once. Its pool is
// database/sql's with default settings.
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

// Create creates the locks' table if it is missing.
func Create(ctx context.Context, o Options) error {
	c, err := New(o)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.db.ExecContext(ctx, mysql.Schema); err != nil {
		return fmt.Errorf("create table %s: %w", mysql.Table, err)
	}
	return nil
}

// Close closes all connections, including those of sessions. It waits for the
// calls under way, which fail.
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

// Do implements mysql.Transport. An error is definite exactly if the driver has
// not begun to write the statement.
func (c *Client) Do(ctx context.Context, timeout time.Duration, cmd mysql.Command) (mysql.Reply, error) {
	q, err := newStatement(cmd)
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
	conn.Close() // does nothing for a lost connection
	return r, err
}

// Open implements mysql.Transport.
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

// begin begins a call that Close waits for. wait ends after the call's timeout or
// with life. The caller must call done at the end.
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

// take takes a connection out of the pool or makes one. Its errors are definite.
//
// All retries of database/sql happen in here. The statement itself is sent on the
// returned connection, and never twice.
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

// hangUp closes a connection that does not return to the pool.
func hangUp(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn })
}

// connector returns a connector with the settings in o.
func (o Options) connector() (driver.Connector, error) {
	f := mysqldriver.NewConfig()
	f.Net, f.Addr, f.User, f.DBName = "tcp", o.Addr, User, Database
	f.DialFunc = o.Dialer
	f.InterpolateParams = true
	f.ClientFoundRows = true            // Affected counts as JDBC does
	f.Logger = &mysqldriver.NopLogger{} // the errors contain everything
	inner, err := mysqldriver.NewConnector(f)
	return connector{inner}, err
}

// connector makes connections that know their number.
type connector struct{ driver.Connector }

// connection is the driver's connection with the methods that database/sql uses.
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

// Greeting is the first statement on each connection. It belongs to no lock: it
// asks for the connection's number, which the driver does not export.
const Greeting = "SELECT CONNECTION_ID()"

// number returns the connection's number.
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
