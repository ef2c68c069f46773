package model

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// Server is a MySQL server that is up.
//
// What it leaves out of InnoDB is what a table of a few rows does not show: its
// locks are of index records, by the unique indexes id and resource, and never
// of pages or whole tables; a deleted record is purged as soon as those who
// waited for its deletion have looked, snapshots or not; nobody sets an id or a
// resource of a row that there is. Replication is of rows, and waits for nobody.
type Server struct {
	options Options
	now     Clock
	// undeclared: a row was changed by a statement of which nobody says what it means.
	undeclared bool
	last       int64 // the number of the session that was opened last
	resumed    int   // how often a wait has ended in its statement's going on
	sessions   []*session
	spare      []*session
	ready      []*session // their waits are over, and they have not gone on yet
	outputs    []Output
	told       []Output

	table    table
	lastTrx  int64  // the number of the transaction that has one, and is the newest
	indexed  int64  // the greatest number of those that have changed the index byResource
	locks    []lock // granted and waited for, in the order of their requests
	names    []named
	log      []Txn
	follower bool
}

// session is a connection, and what the server keeps for it.
type session struct {
	id        int64
	waitTime  time.Duration
	idleUntil time.Duration // on Clock.Mono, while it has nothing to do
	isolation mysql.Isolation

	// The statement that it carries out.
	busy    bool
	command mysql.Command
	by      int
	ms      int64   // NOW(3)
	written int     // len(trx.changes) at its beginning
	record  *record // that an Insert makes
	placed  bool    // in the index byID it is there, or what a Delete deletes is not
	waiting waitKind
	since   time.Duration // on Clock.Mono: when its wait began
	due     time.Duration // and when it has been long enough; never: it does not end
	gone    bool          // the client is

	trx trx
}

const never = time.Duration(1<<63 - 1)

// New returns a server with an empty table.
func New(o Options) *Server {
	s := new(Server)
	s.Reset(o)
	return s
}

// Declared reports whether all statements that have changed a row declare what they
// mean. Else the effects that were told are not all.
func (s *Server) Declared() bool { return !s.undeclared }

// Reset makes s a new server; the zero Server may be Reset, too.
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
		table: s.table, locks: s.locks[:0], names: s.names[:0], log: s.log[:0],
	}
}

// Connect opens a session, and returns its number, which is CONNECTION_ID().
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

// Disconnect is the end of session's connection reaching the server: it rolls
// back, and frees what the session had. One that is over already is ignored.
//
// A statement that waits goes on waiting, and does what it was to do before the
// server looks at the connection again: when it has ended or, of a wait for a
// named lock, once a second.
func (s *Server) Disconnect(now Clock, session int64) {
	s.now = now
	x := s.session(session)
	switch {
	case x == nil:
		return
	case !x.busy:
		s.end(x)
	case x.waiting == forName:
		x.due = s.noticed(x)
		fallthrough
	default:
		x.gone = true
	}
	s.settle()
}

// Kill ends session at once, as Disconnect does not. One that is over already is
// ignored.
func (s *Server) Kill(now Clock, session int64) {
	s.now = now
	if x := s.session(session); x != nil {
		s.kill(x)
		s.settle()
	}
}

// Do has session carry out c; by is the caller's tag of the statement, and not
// 0. The answer is among the Outputs, of this call or of a later one. A session
// has one statement at a time: the next one comes after the answer. Of a
// session that is over there is none.
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

// Advance does what the passing of time does until now: it ends waits, and
// sessions that were idle for too long.
func (s *Server) Advance(now Clock) {
	s.now = now
	for {
		x := s.next()
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

// Next is when Advance has something to do, as things are; false: never.
func (s *Server) Next() (mono time.Duration, ok bool) {
	x := s.next()
	if x == nil || x.deadline() == never {
		return 0, false
	}
	return x.deadline(), true
}

// Outputs returns what the server has said since it was last called, in order.
// The slice is good until the next call of Outputs.
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

// next is the session whose deadline comes first.
func (s *Server) next() *session {
	var first *session
	for _, x := range s.sessions {
		if first == nil || x.deadline() < first.deadline() {
			first = x
		}
	}
	return first
}

// deadline is when time ends what x is at.
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

// end ends x, and with it all that it had.
func (s *Server) end(x *session) {
	s.stopWaiting(x)
	s.rollback(x, 0)
	s.freeAll(x)
	s.forget(x)
}

// forget drops x, which has nothing any more.
func (s *Server) forget(x *session) {
	i := slices.Index(s.sessions, x)
	s.sessions = slices.Delete(s.sessions, i, i+1)
	*x = session{trx: x.trx}
	x.trx.clear()
	s.spare = append(s.spare, x)
}

// after is d after now; a negative d never comes.
func after(now, d time.Duration) time.Duration {
	if d < 0 || now > never-d {
		return never
	}
	return now + d
}

// floor is d in whole milliseconds, rounded down.
func floor(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d < 0 && d%time.Millisecond != 0 {
		ms--
	}
	return ms
}
