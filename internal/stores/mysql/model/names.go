package model

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// namedLock is a named lock with a holder.
type namedLock struct {
	name   string
	holder *session
	times  int // how often the holder has locked it
	maker  int
	queue  []*session
}

// lockNamed returns the lock called name, or nil if it has no holder.
func (s *Server) lockNamed(name string) *namedLock {
	for i := range s.names {
		if s.names[i].name == name {
			return &s.names[i]
		}
	}
	return nil
}

func (s *Server) getLock(x *session) {
	c := &x.command
	l := s.lockNamed(c.Name)
	switch {
	case l == nil:
		s.giveLock(x, s.newName(c.Name))
	case l.holder == x:
		l.times++
		s.effect(x, Prolonged, l.name, l.maker, x.by)
		s.answer(x, mysql.Reply{Int: 1})
	case c.Wait == 0:
		s.answer(x, mysql.Reply{})
	default:
		l.queue = append(l.queue, x)
		s.startWait(x, forName, c.Wait)
		s.breakNameDeadlock(x)
	}
}

// giveLock makes x the holder of the free lock l.
func (s *Server) giveLock(x *session, l *namedLock) {
	x.waiting = notWaiting
	l.holder, l.times, l.maker = x, 1, x.by
	s.effect(x, Created, l.name, x.by, x.by)
	s.answer(x, mysql.Reply{Int: 1})
}

// breakNameDeadlock ends the deadlock that x's wait has closed, if there is one. It
// refuses the session of the cycle that has been refused least often, as MariaDB
// does (MDL_context::find_deadlock): a session that asks again must not lose again.
// In a tie it refuses x, or else the next one on the way from x to its holder, to
// the holder's holder and so on. An open transaction stays open: InnoDB is not
// involved.
func (s *Server) breakNameDeadlock(x *session) {
	victim := x
	for y := s.holderFor(x); y != x; y = s.holderFor(y) {
		if y == nil {
			return
		}
		if y.deadlocks < victim.deadlocks {
			victim = y
		}
	}
	victim.deadlocks++
	s.stopWaiting(victim)
	s.answer(victim, mysql.Reply{Code: mysql.DeadlockFound})
}

// holderFor returns the holder of the named lock that y waits for, or nil.
func (s *Server) holderFor(y *session) *session {
	if y.waiting != forName {
		return nil
	}
	return s.lockNamed(y.command.Name).holder
}

func (s *Server) releaseLock(x *session) {
	l := s.lockNamed(x.command.Name)
	switch {
	case l == nil:
		s.answer(x, mysql.Reply{Null: true})
	case l.holder != x:
		s.answer(x, mysql.Reply{})
	case l.times > 1:
		l.times--
		s.answer(x, mysql.Reply{Int: 1})
	default:
		s.effect(x, Removed, l.name, l.maker, x.by)
		s.answer(x, mysql.Reply{Int: 1})
		s.free(l)
	}
}

func (s *Server) isUsedLock(x *session) {
	if l := s.lockNamed(x.command.Name); l != nil {
		s.answer(x, mysql.Reply{Int: l.holder.id})
	} else {
		s.answer(x, mysql.Reply{Null: true})
	}
}

// free takes l from its holder and gives it to the first in its queue.
func (s *Server) free(l *namedLock) {
	if len(l.queue) > 0 {
		x := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		s.giveLock(x, l)
		return
	}
	i, last := slices.IndexFunc(s.names, func(m namedLock) bool { return m.name == l.name }), len(s.names)-1
	queue := l.queue
	copy(s.names[i:], s.names[i+1:])
	s.names[last] = namedLock{queue: queue} // reused by the next lock
	s.names = s.names[:last]
}

// newName adds a lock without a holder.
func (s *Server) newName(name string) *namedLock {
	n := len(s.names)
	s.names = slices.Grow(s.names, 1)[:n+1]
	s.names[n] = namedLock{name: name, queue: s.names[n].queue[:0]}
	return &s.names[n]
}

// freeAll frees all named locks of x, whose session ends.
func (s *Server) freeAll(x *session) {
	for i := len(s.names) - 1; i >= 0; i-- {
		if l := &s.names[i]; l.holder == x {
			s.effect(x, SessionOver, l.name, l.maker, 0)
			s.free(l)
		}
	}
}

// leaveQueue removes x from the queue of a named lock.
func (s *Server) leaveQueue(x *session) {
	l := s.lockNamed(x.command.Name)
	i := slices.Index(l.queue, x)
	l.queue = slices.Delete(l.queue, i, i+1)
}

// giveUp ends x's wait for a named lock.
func (s *Server) giveUp(x *session) {
	s.stopWaiting(x)
	s.answer(x, mysql.Reply{})
}

// glance is the interval at which a server checks the client of a session that
// waits for a named lock.
const glance = time.Second

// nextCheck returns when the server checks x's client next. It does not check in
// the last part of a wait.
func (s *Server) nextCheck(x *session) time.Duration {
	return min(x.due, s.now.Mono+glance-(s.now.Mono-x.since)%glance)
}

// kill ends x and reports that. A waiting statement gets no answer.
func (s *Server) kill(x *session) {
	s.output(Output{Kind: Ended, Session: x.id})
	s.end(x)
}

// killSession kills the session that x names. A session that kills itself gets no
// answer.
func (s *Server) killSession(x *session) {
	y := s.session(x.command.Int)
	if y == nil {
		s.answer(x, mysql.Reply{Code: mysql.NoSuchSession})
		return
	}
	s.kill(y)
	if y != x {
		s.answer(x, mysql.Reply{})
	}
}
