package docker

import "sync"

// state is whether a server's process runs, according to the faults in force.
type state struct {
	mu     sync.Mutex
	up     bool
	paused bool
}

func (s *state) runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
}

// serves reports whether the server answers.
func (s *state) serves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up && !s.paused
}

func (s *state) setState(up, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.paused = up, paused
}
