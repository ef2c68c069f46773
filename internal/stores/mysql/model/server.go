package model

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// Server is a MySQL server that is up.
//
// It leaves out parts of InnoDB that do not show in a table with a few rows. It
// locks records of the unique indexes id and resource, never pages or whole
// tables. It purges a deleted record as soon as the waiters for its deletion have
// checked, even if a snapshot needs it. No statement changes the id or resource
// of a row. Replication is by row and asynchronous.
type Server struct {
	options Options
	now     Clock
	// undeclared: a statement without a declared meaning has changed a row.
	undeclared bool
	last       int64 // the number of the newest session
	resumed    int   // how many waits have ended with the statement continuing
	sessions   []*session
	spare      []*session
	ready      []*session // sessions whose waits are over and that have not continued yet
	outputs    []Output
	told       []Output

	table    table
	lastTrx  int64  // the number of the newest numbered transaction
	indexed  int64  // the greatest number of a transaction that has changed the index byResource
	locks    []lock // granted and requested, in the order of the requests
	names    []namedLock
	log      []Txn
	recorded []change // the changes of the log, in one list
	follower bool
}

// session is a connection and the server's state for it.
type session struct {
	id        int64
	waitTime  time.Duration
	idleUntil time.Duration // on Clock.Mono, while it is idle
	isolation mysql.Isolation
	deadlocks int // how often it has been refused in a deadlock over named locks

	// The statement under way.
	busy    bool
	command mysql.Command
	by      int
	ms      int64   // NOW(3)
	written int     // len(trx.changes) at its beginning
	record  *record // the row of an Insert
	placed  bool    // in the index byID the row of an Insert is there, or the row of a Delete is gone
	waiting waitKind
	since   time.Duration // on Clock.Mono: the beginning of its wait
	due     time.Duration // the end of its timeout; never: none
	gone    bool          // the client has closed the connection

	trx trx
}

const never = time.Duration(1<<63 - 1)

// New returns a server with an empty table.
func New(o Options) *Server {
	s := new(Server)
	s.Reset(o)
	return s
}

// Declared reports whether all statements that have changed a row declare their
// meaning. If not, some effects are missing.
func (s *Server) Declared() bool { return !s.undeclared }

// Reset makes s a new server. The zero Server may be Reset, too.
func (s *Server) Reset(o Options) {
	if o.LockWait == 0 {
		o.LockWait = 50 * time.Second
	}
	if o.WaitTime == 0 {
		o.WaitTime = 8 * time.Hour
	}
	for len(s.sessions) > 0 {
		s.forget(s.sessions[0])
	}
	s.table.reset()
	*s = Server{
		options: o, sessions: s.sessions, spare: s.spare, ready: s.ready[:0],
		outputs: s.outputs[:0], told: s.told[:0],
		table: s.table, locks: s.locks[:0], names: s.names[:0], log: s.log[:0], recorded: s.recorded[:0],
	}
}

// Connect opens a session and returns its number, CONNECTION_ID().
func (s *Server) Connect(now Clock) int64 {
	s.now = now
	s.last++
	var x *session
	if n := len(s.spare); n > 0 {
		x, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		x = new(session)
	}
	x.id, x.waitTime = s.last, s.options.WaitTime
	x.idleUntil = after(now.Mono, x.waitTime)
	s.sessions = append(s.sessions, x)
	return x.id
}

// Disconnect handles the end of session's connection at the server: it rolls back
// and frees everything that the session had. It ignores a session that is already
// over.
//
// A waiting statement goes on waiting and is executed before the server checks
// the connection again: after the statement or, in a wait for a named lock, once
// a second.
func (s *Server) Disconnect(now Clock, session int64) {
	s.now = now
	x := s.session(session)
	switch {
	case x == nil:
		return
	case !x.busy:
		s.end(x)
	case x.waiting == forName:
		x.due = s.nextCheck(x)
		fallthrough
	default:
		x.gone = true
	}
	s.settle()
}

// Kill ends session at once, unlike Disconnect. It ignores a session that is
// already over.
func (s *Server) Kill(now Clock, session int64) {
	s.now = now
	if x := s.session(session); x != nil {
		s.kill(x)
		s.settle()
	}
}

// Do executes c in session. by is the caller's tag of the statement and not 0.
// The answer is in the Outputs of this call or a later one. A session has one
// statement at a time: the caller must wait for the answer before the next. A
// session that is over gives no answer.
func (s *Server) Do(now Clock, session int64, by int, c mysql.Command) {
	s.now = now
	x := s.session(session)
	if x == nil || x.busy {
		return
	}
	x.busy, x.command, x.by, x.record, x.placed = true, c, by, nil, false
	x.ms = floor(now.Wall)
	x.written = len(x.trx.changes)
	s.carryOn(x)
	s.settle()
}

// Advance ends waits and idle sessions whose time is over now.
func (s *Server) Advance(now Clock) {
	s.now = now
	for {
		x := s.nextDeadline()
		if x == nil || x.deadline() > now.Mono {
			return
		}
		switch x.waiting {
		case notWaiting:
			s.output(Output{Kind: Ended, Session: x.id})
			s.end(x)
		case forRecord:
			s.refuse(x, mysql.LockTimeout)
		case forName:
			s.giveUp(x)
		}
		s.settle()
	}
}

// Next returns when Advance next has something to do, as far as is known now;
// false means never.
func (s *Server) Next() (mono time.Duration, ok bool) {
	x := s.nextDeadline()
	if x == nil || x.deadline() == never {
		return 0, false
	}
	return x.deadline(), true
}

// Outputs returns the server's outputs since the last call, in order. The slice
// is valid until the next call of Outputs.
func (s *Server) Outputs() []Output {
	o := s.outputs
	s.outputs, s.told = s.told[:0], o
	return o
}

func (s *Server) output(o Output) { s.outputs = append(s.outputs, o) }

func (s *Server) effect(x *session, k EffectKind, name string, maker, by int) {
	o := Output{Kind: Acted, By: by, Effect: Effect{Kind: k, Name: name, Maker: maker}}
	if x != nil {
		o.Session = x.id
	}
	s.output(o)
}

// nextDeadline returns the session with the first deadline.
func (s *Server) nextDeadline() *session {
	var first *session
	for _, x := range s.sessions {
		if first == nil || x.deadline() < first.deadline() {
			first = x
		}
	}
	return first
}

// deadline returns when x's wait or idle time ends.
func (x *session) deadline() time.Duration {
	if x.busy {
		return x.due
	}
	return x.idleUntil
}

func (s *Server) session(id int64) *session {
	for _, x := range s.sessions {
		if x.id == id {
			return x
		}
	}
	return nil
}

// answer ends x's statement.
func (s *Server) answer(x *session, r mysql.Reply) {
	x.busy = false
	if x.gone {
		s.ready = append(s.ready, x)
		return
	}
	x.idleUntil = after(s.now.Mono, x.waitTime)
	s.output(Output{Kind: Answer, Session: x.id, By: x.by, Reply: r})
}

// end ends x and frees everything that it had.
func (s *Server) end(x *session) {
	s.stopWaiting(x)
	s.rollback(x, 0)
	s.freeAll(x)
	s.forget(x)
}

// forget removes x, which has nothing left.
func (s *Server) forget(x *session) {
	i := slices.Index(s.sessions, x)
	s.sessions = slices.Delete(s.sessions, i, i+1)
	*x = session{trx: x.trx}
	x.trx.clear()
	s.spare = append(s.spare, x)
}

// after returns now + d, or never for a negative d.
func after(now, d time.Duration) time.Duration {
	if d < 0 || now > never-d {
		return never
	}
	return now + d
}

// floor returns d in whole milliseconds, rounded down.
func floor(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d < 0 && d%time.Millisecond != 0 {
		ms--
	}
	return ms
}
