// Package model is a MySQL server as a pure state machine: rows and their locks,
// transactions and their snapshots, named locks, sessions, and a log of commits.
// It has no network, scheduler or randomness. The caller decides when time passes
// and when messages arrive. The same calls always give the same answers.
//
// A statement may have to wait for a row or a named lock. So Do returns no
// answer: the results of statements and the ends of sessions are in Outputs,
// which the caller takes after each call.
//
// It answers as MariaDB 10.11 does, with InnoDB. The suite in package porttest
// compares it with the real server.
package model

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// Clock has the readings of the server's clocks. NOW(3) comes from Wall, which
// may be wrong and jump. Waits and idle times are measured on Mono.
type Clock struct {
	Wall time.Duration // since 1970
	Mono time.Duration
}

// Options configure a server. The zero value has Debian's defaults.
type Options struct {
	LockWait time.Duration // innodb_lock_wait_timeout; 0: 50 s
	WaitTime time.Duration // wait_timeout of new sessions; 0: 8 h
}

// Output is a message of the server to a session, or to an observer.
type Output struct {
	Kind    OutputKind
	Session int64
	By      int         // tag of the statement; of an Effect: of the statement that acted, 0: the server itself
	Reply   mysql.Reply // for Answer
	Effect  Effect      // for Acted
}

// OutputKind is the kind of an Output.
type OutputKind uint8

// The kinds.
const (
	Answer OutputKind = iota + 1 // of the statement with the tag By
	Ended                        // the server has ended Session and closes its connection: it was killed, or idle for too long
	Acted                        // Effect has happened to an entry
)

// EffectKind is a kind of change of an entry.
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
	Maker int    // tag of the statement that made the entry
}
