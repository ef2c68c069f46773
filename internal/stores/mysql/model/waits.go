package model

import "time"

type waitKind uint8

const (
	notWaiting waitKind = iota
	forRecord
	forName
)

// stopWaiting takes x out of the queue that it is in, if it is in one.
func (s *Server) stopWaiting(x *session) {
	switch x.waiting {
	case forRecord:
		s.withdraw(x)
	case forName:
		s.leaveQueue(x)
	}
	x.waiting = notWaiting
}

// settle has all go on whose waits are over, one after the other, ends those
// whose clients are gone, and purges what they have left; and so on with those
// who waited for that.
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

// goesOn is the end of x's wait.
func (s *Server) goesOn(x *session) {
	x.waiting = notWaiting
	s.ready = append(s.ready, x)
	s.resumed++
}

// Resumed is how often, since s was reset, a statement that waited for a row
// has gone on, were it to wait again.
func (s *Server) Resumed() int { return s.resumed }

// waits has x wait for at most d.
func (s *Server) waits(x *session, k waitKind, d time.Duration) {
	x.waiting, x.since, x.due = k, s.now.Mono, after(s.now.Mono, d)
}
