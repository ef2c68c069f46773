// Package mysql is the port to a MySQL server: connections, and one method for
// each statement of a lock.
//
// A Transport implements it: the real client library (package client), or the
// simulator's network with a model of the server (package model). The suite in
// package porttest tests both for the behaviour of MariaDB 10.11 with InnoDB.
// Comments mark known differences of MySQL 8.
package mysql

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Transport is the access of one process to a server: a pool of connections like
// database/sql's. The clients of a process share it.
type Transport interface {
	// Do executes one statement on an idle connection of the pool: the one that
	// came back last, or a new one. Afterwards the connection returns to the pool
	// with the whole state of its session. At most MaxIdle connections wait
	// there; others are closed.
	//
	// Do waits for at most timeout (0: the transport's default). After a definite
	// error (locks.IsDefinite) the statement was never sent. After any other
	// error it may have been executed, or may be executed later, and the
	// connection is closed. A refusal of the server is a Reply with a Code, not
	// an error.
	//
	// With an ended ctx the statement is not sent. Once it is sent, Do waits for
	// the answer even after the end of ctx.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Open takes a connection out of the pool, as Do does, for its caller alone.
	// Its errors are definite.
	Open(ctx context.Context, timeout time.Duration) (Session, error)
}

// MaxIdle is how many idle connections stay in a pool: database/sql's default.
const MaxIdle = 2

// Session is one connection with its state on the server: a transaction and named
// locks. Both end with it. One task uses it at a time.
type Session interface {
	// ID returns the server's number for it: CONNECTION_ID().
	ID() int64
	// Do executes one statement, like Transport.Do. When the connection has ended
	// the session has, too, and Do returns ErrSessionOver from then on.
	Do(ctx context.Context, timeout time.Duration, c Command) (Reply, error)
	// Return returns the connection to the pool with the whole state of its
	// session.
	Return()
	// Close closes the connection without waiting. The server rolls back and
	// frees the session's locks when it notices.
	Close()
}

// These are the errors of a statement.
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
	// ErrProtocol: the reply is impossible for the statement.
	ErrProtocol = errors.New("mysql: unexpected reply")
)

// Verb names a statement.
type Verb uint8

// Verbs with rows use the table of Schema. Outside a transaction each statement
// is a transaction of its own.
const (
	Select          Verb = iota + 1 // the row of Row.Resource, and NOW(3); in a transaction the snapshot's row
	SelectForUpdate                 // the current version of that row, locked until the transaction ends
	Insert                          // Row, without its ID
	Update                          // the columns Set of Row, in the rows that Where describes
	Delete                          // the rows that Where describes

	Isolate  // SET SESSION TRANSACTION ISOLATION LEVEL Isolation
	Begin    // START TRANSACTION; commits an open one
	Commit   // COMMIT
	Rollback // ROLLBACK

	GetLock     // GET_LOCK(Name, Wait): Int 1, or 0 when Wait has passed
	ReleaseLock // RELEASE_LOCK(Name): Int 1, 0 if another session has it, Null if no session has it
	IsUsedLock  // IS_USED_LOCK(Name): Int, the session that has it, or Null
	Kill        // KILL CONNECTION Int

	SetWaitTimeout // SET SESSION wait_timeout = Wait, in whole seconds
	Ping           // DO 0: keeps the session from being idle
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

// These are the columns for Set and Where.
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

// Rename returns r with another owner, and the columns that name it: the head of the
// queue if only the queue names one, else Owner.
func (r Row) Rename(owner string) (Columns, Row) {
	if _, rest, queued := strings.Cut(r.Queue.S, ","); queued && !r.Owner.Valid {
		r.Queue = Some(owner + "," + rest)
		return Queue, r
	}
	r.Owner = Some(owner)
	return Owner, r
}

// Text is a string, or NULL.
type Text struct {
	S     string
	Valid bool // it is not NULL
}

// Some returns s as a Text that is not NULL.
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
	// Row is the row of Insert and Update. Its Resource selects the row of Select
	// and SelectForUpdate.
	Row Row
	Set Columns // of Update
	// Where and Match select the rows of Update and Delete: those that equal
	// Match in all columns of Where. Where includes ID or Resource, so at most
	// one row is selected.
	Where Columns
	Match Row
	// Lease, if it is not 0, makes Insert and Update write NOW(3)+Lease, by the
	// server's clock, instead of Row.Expires. Whole milliseconds.
	Lease time.Duration

	// Means is the meaning of Insert, Update and Delete for the row's grant.
	Means Meaning

	Isolation Isolation     // of Isolate
	Name      string        // of a named lock: up to 64 characters; MySQL 8, unlike MariaDB, ignores their case
	Wait      time.Duration // of GetLock: whole milliseconds, which MySQL 8 rounds to seconds, negative for ever; of SetWaitTimeout
	Int       int64         // of Kill
}

// Code is the server's result, with the numbers of its errors.
type Code uint16

// These are the codes that a lock may get.
const (
	OK             Code = 0
	Duplicate      Code = 1062 // another row has the same Resource
	NoSuchSession  Code = 1094 // of Kill
	LockTimeout    Code = 1205 // innodb_lock_wait_timeout has passed; the transaction continues without the statement
	DeadlockFound  Code = 1213 // the transaction was rolled back
	ReadOnlyServer Code = 1290 // a replica refuses writes
	Interrupted    Code = 1317 // the statement was killed
	TooLong        Code = 1406 // a string does not fit its column
	// LockDeadlock is MySQL 8's answer to a GET_LOCK that would be a deadlock.
	// MariaDB returns DeadlockFound.
	LockDeadlock Code = 3058
)

// refusals are the texts of the codes.
var refusals = map[Code]string{
	OK:             "mysql: ok",
	Duplicate:      "mysql: duplicate entry",
	NoSuchSession:  "mysql: no such session",
	LockTimeout:    "mysql: lock wait timeout exceeded",
	DeadlockFound:  "mysql: deadlock found",
	LockDeadlock:   "mysql: deadlock found",
	ReadOnlyServer: "mysql: the server is read only",
	Interrupted:    "mysql: query execution was interrupted",
	TooLong:        "mysql: data too long for column",
}

// Error describes a refusal: the statement had no effect. Port returns it, marked
// as definite.
func (c Code) Error() string { return cmp.Or(refusals[c], "mysql: an unknown error") }

// Reply is the server's answer. If Code is not OK the other fields are zero.
type Reply struct {
	Code     Code
	Found    bool  // of Select and SelectForUpdate: the row exists
	Row      Row   // that row
	Now      int64 // of Select and SelectForUpdate: NOW(3), in milliseconds since 1970, even without a row
	ID       int64 // of Insert: the new row's
	Affected int64 // of Update and Delete: the rows that Where selects, changed or not, as JDBC counts
	Int      int64 // of the functions of named locks
	Null     bool  // they returned NULL
}
