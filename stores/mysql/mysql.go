// Package mysql is the port to a MySQL server: connections, and one method for
// each statement that a lock uses.
//
// Behind it stands a Transport: the real client library (package client), or
// the simulator's network with a model of the server (package model). The
// suite in package porttest holds both to the same behaviour, which is that of
// MariaDB 10.11 with InnoDB; where MySQL 8 is known to differ a comment says so.
package mysql

import (
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Transport is the way of one process to a server: a pool of connections, as
// database/sql keeps one. Clients of one process share it.
type Transport interface {
	// Do carries one statement on a connection of the pool that nobody uses now:
	// the one that came back last, or a new one. Afterwards the connection goes
	// back into the pool, with all that its session has; but no more than
	// MaxIdle wait there, and what is beyond that is closed.
	//
	// Do waits for at most timeout (0: the transport's own). An error that is
	// definite (locks.IsDefinite) says that the statement was never sent; after
	// every other error it may have been executed, or may be later, and the
	// connection is closed. A refusal of the server's is a Reply with a Code,
	// not an error.
	//
	// A ctx that has ended keeps the statement from being sent. Once it is sent
	// Do waits for the answer, whatever ctx does meanwhile.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Open takes a connection out of the pool, as Do does, for its caller alone.
	// Its errors are definite.
	Open(ctx context.Context, timeout time.Duration) (Session, error)
}

// MaxIdle is how many connections that nobody uses stay in a pool:
// database/sql's default.
const MaxIdle = 2

// Session is one connection, and what the server keeps for it: a transaction,
// and named locks. Both end with it. One task uses it at a time.
type Session interface {
	// ID is the server's number for it: CONNECTION_ID().
	ID() int64
	// Do carries one statement, as Transport's does. When the connection has
	// ended the session has, too, and Do says ErrSessionOver from then on.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Return puts the connection back into the pool, with all that its session has.
	Return()
	// Close closes the connection, without waiting for anything: the server rolls
	// back and frees all that the session has when it learns of it.
	Close()
}

// What can become of a statement.
var (
	// ErrConnectionLost: the connection ended before the answer came. The
	// statement may have been executed, or may be later.
	ErrConnectionLost = errors.New("mysql: connection lost")
	// ErrTimeout: the caller gave up waiting, and the connection is closed. The
	// statement may have been executed, or may be later.
	ErrTimeout = errors.New("mysql: no answer in time")
	// ErrNotConnected: the server was not reached, and nothing was sent.
	ErrNotConnected = locks.Definite(errors.New("mysql: not connected"))
	// ErrSessionOver: the session's connection had ended before, and nothing was sent.
	ErrSessionOver = locks.Definite(errors.New("mysql: the session is over"))
	// ErrProtocol is a reply that the statement cannot have.
	ErrProtocol = errors.New("mysql: unexpected reply")
)

// Verb names a statement.
type Verb uint8

// The verbs. Those that name rows act on the table of Schema. Outside a
// transaction each is one of its own.
const (
	Select          Verb = iota + 1 // the row of Row.Resource, and NOW(3): a snapshot's, in a transaction
	SelectForUpdate                 // the same row as it is now, locked until the transaction ends
	Insert                          // Row, without its ID
	Update                          // give the rows that Where describes the columns Set of Row
	Delete                          // the rows that Where describes

	Isolate  // SET SESSION TRANSACTION ISOLATION LEVEL Isolation
	Begin    // START TRANSACTION; what was open is committed
	Commit   // COMMIT
	Rollback // ROLLBACK

	GetLock     // GET_LOCK(Name, Wait): Int 1, or 0 when Wait has passed
	ReleaseLock // RELEASE_LOCK(Name): Int 1, 0 if another session has it, Null if nobody has
	IsUsedLock  // IS_USED_LOCK(Name): Int, the session that has it, or Null
	Kill        // KILL CONNECTION Int

	SetWaitTimeout // SET SESSION wait_timeout = Wait, in whole seconds
	Ping           // DO 0: that the session is not idle
)

// verbs are the names of statements, or of the functions that they call.
var verbs = [...]string{
	Select: "SELECT", SelectForUpdate: "SELECT FOR UPDATE", Insert: "INSERT", Update: "UPDATE", Delete: "DELETE",
	Isolate: "SET TRANSACTION", Begin: "START TRANSACTION", Commit: "COMMIT", Rollback: "ROLLBACK",
	GetLock: "GET_LOCK", ReleaseLock: "RELEASE_LOCK", IsUsedLock: "IS_USED_LOCK", Kill: "KILL",
	SetWaitTimeout: "SET wait_timeout", Ping: "DO",
}

// String returns the name of the statement, or of the function that it calls.
func (v Verb) String() string { return verbs[v] }

// Columns is a set of columns.
type Columns uint8

// The columns that Set and Where choose from.
const (
	ID Columns = 1 << iota
	Resource
	Version
	Expires
	Queue
	Owner
)

// Row is a row of the table. Resource is its unique key.
type Row struct {
	ID       int64 // AUTO_INCREMENT
	Resource string
	Version  int64
	Expires  int64 // milliseconds since 1970
	Queue    Text
	Owner    Text
}

// Text is a string, or NULL.
type Text struct {
	S     string
	Valid bool // it is not NULL
}

// Some is s, which is not NULL.
func Some(s string) Text { return Text{s, true} }

// Isolation is a transaction's isolation level.
type Isolation uint8

// The levels. The zero value is InnoDB's default.
const (
	RepeatableRead Isolation = iota
	ReadCommitted
)

func (i Isolation) String() string { return [...]string{"REPEATABLE READ", "READ COMMITTED"}[i] }

// Command is one statement.
type Command struct {
	Verb Verb
	// Row is what Insert and Update write, and whose Resource Select and
	// SelectForUpdate look for.
	Row Row
	Set Columns // of Update
	// Where and Match say which rows Update and Delete are about: those that
	// agree with Match in the columns Where, all of them. It names ID or
	// Resource, so there is one at most.
	Where Columns
	Match Row
	// Lease, where it is not 0, has Insert and Update write NOW(3)+Lease, by the
	// server's clock, in place of Row.Expires. Whole milliseconds.
	Lease time.Duration

	// Means is what Insert, Update and Delete mean to the grant that the row stands for.
	Means Meaning

	Isolation Isolation     // of Isolate
	Name      string        // of a named lock: up to 64 characters; MySQL 8, unlike MariaDB, does not look at their case
	Wait      time.Duration // of GetLock: whole milliseconds, which MySQL 8 rounds to seconds, negative for ever; of SetWaitTimeout
	Int       int64         // of Kill
}

// Code is how the server answered, by the numbers of its errors.
type Code uint16

// The codes that a lock may meet.
const (
	OK             Code = 0
	Duplicate      Code = 1062 // another row has the same Resource
	NoSuchSession  Code = 1094 // of Kill
	LockTimeout    Code = 1205 // innodb_lock_wait_timeout has passed; the transaction goes on without the statement
	DeadlockFound  Code = 1213 // the transaction was rolled back
	ReadOnlyServer Code = 1290 // a replica takes no writes
	Interrupted    Code = 1317 // the statement was killed
	TooLong        Code = 1406 // a string does not fit its column
	// LockDeadlock is what MySQL 8 says of a GET_LOCK that would wait for itself;
	// MariaDB says DeadlockFound.
	LockDeadlock Code = 3058
)

// Error says what a refusal means: the statement took no effect. Port returns
// it, marked definite.
func (c Code) Error() string {
	switch c {
	case OK:
		return "mysql: ok"
	case Duplicate:
		return "mysql: duplicate entry"
	case NoSuchSession:
		return "mysql: no such session"
	case LockTimeout:
		return "mysql: lock wait timeout exceeded"
	case DeadlockFound, LockDeadlock:
		return "mysql: deadlock found"
	case ReadOnlyServer:
		return "mysql: the server is read only"
	case Interrupted:
		return "mysql: query execution was interrupted"
	case TooLong:
		return "mysql: data too long for column"
	}
	return "mysql: an unknown error"
}

// Reply is the server's answer. What Code is not OK for is zero.
type Reply struct {
	Code     Code
	Found    bool  // of Select and SelectForUpdate: there is a row
	Row      Row   // and this is it
	Now      int64 // of Select and SelectForUpdate: NOW(3), in milliseconds since 1970, also where there is no row
	ID       int64 // of Insert: the new row's
	Affected int64 // of Update and Delete: the rows that Where describes, whether they changed or not, as JDBC counts
	Int      int64 // of the functions of named locks
	Null     bool  // they said NULL
}
