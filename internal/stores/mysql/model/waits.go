package model

import "time"

// Who has to wait is decided in locks.go. Here waits begin and end.

type waitKind uint8

const (
	notWaiting waitKind = iota
	forRecord
	forName
)

// stopWaiting removes x from its queue, if it waits.
func (s *Server) stopWaiting(x *session) {
	switch x.waiting {
	case forRecord:
		s.withdraw(x)
	case forName:
		s.leaveQueue(x)
	}
	x.waiting = notWaiting
}

// settle continues all sessions whose waits are over, one after the other. It
// ends those whose clients are gone, purges what they have left, and repeats this
// for the sessions that waited for it.
func (s *Server) settle() {
	for s.breakAllDeadlocks(); len(s.ready) > 0 || len(s.table.ghosts) > 0; s.purge() {
		for i := 0; i < len(s.ready); i++ {
			switch x := s.ready[i]; {
			case x.busy:
				s.carryOn(x)
			case x.gone:
				s.end(x)
			}
			s.breakAllDeadlocks()
		}
		s.ready = s.ready[:0]
	}
}

// resume ends x's wait.
func (s *Server) resume(x *session) {
	x.waiting = notWaiting
	s.ready = append(s.ready, x)
	s.resumed++
}

// Resumed returns how often a statement that waited for a row has continued since
// the reset, even if it had to wait again.
func (s *Server) Resumed() int { return s.resumed }

// startWait makes x wait for at most d.
func (s *Server) startWait(x *session, k waitKind, d time.Duration) {
	x.waiting, x.since, x.due = k, s.now.Mono, after(s.now.Mono, d)
}
