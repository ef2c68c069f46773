// Package model is a MySQL server as a pure state machine: rows and their
// locks, transactions and their snapshots, named locks, sessions, and a log of
// what was committed. There is no network, no scheduler and no randomness: when
// time passes, and who hears what when, is the caller's, and the same calls
// always give the same answers.
//
// A statement may have to wait, for a row or a named lock. So Do answers
// nothing: what became of statements and sessions is in Outputs, which the
// caller takes after each call.
//
// It answers as MariaDB 10.11 does, with InnoDB. The suite in package porttest
// holds it to the real server.
package model

import (
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// Clock is what the server's clocks show: NOW(3) comes from Wall, which may be
// wrong and jump; how long somebody waits, or is idle, is measured on Mono.
type Clock struct {
	Wall time.Duration // since 1970
	Mono time.Duration
}

// Options of a server. The zero value is what Debian ships.
type Options struct {
	LockWait time.Duration // innodb_lock_wait_timeout; 0: 50 s
	WaitTime time.Duration // wait_timeout of new sessions; 0: 8 h
}

// Output is something that the server says, to a session or to whoever
// watches it.
type Output struct {
	Kind    OutputKind
	Session int64
	By      int         // the tag of the statement; of an Effect: of the statement that acted, 0: the server itself
	Reply   mysql.Reply // of an Answer
	Effect  Effect      // of an Acted
}

// OutputKind says what an Output is.
type OutputKind uint8

// The kinds.
const (
	Answer OutputKind = iota + 1 // of the statement with the tag By
	Ended                        // the server has ended Session, and closes its connection: it was killed, or idle for too long
	Acted                        // Effect has happened to an entry
)

// EffectKind is what became of an entry.
type EffectKind = mysql.EffectKind

// The kinds.
const (
	Created     = mysql.Created
	Removed     = mysql.Removed
	TakenOver   = mysql.TakenOver
	Shortened   = mysql.Shortened
	Prolonged   = mysql.Prolonged
	Lost        = mysql.Lost
	SessionOver = mysql.SessionOver
)

// Effect is one change of one entry.
type Effect struct {
	Kind  EffectKind
	Name  string // the row's resource, or the named lock's name
	Maker int    // the tag of the statement that made the entry acted on
}
