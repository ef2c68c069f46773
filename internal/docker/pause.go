package docker

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// gate is closed while a server is paused. A pause does not count as the server's
// response time.
type gate struct {
	mu     sync.Mutex
	closed bool
	opened time.Time
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.closed, g.opened = false, time.Now()
	}
}

// wasPaused reports whether the server is paused, or was since that time. A server without
// a gate never is.
func (g *gate) wasPaused(since time.Time) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed || g.opened.After(since)
}

// stopScript is a script that stops the server and waits until all its threads are
// stopped.
const stopScript = `p=$(cat /data/pid) && kill -STOP "$p" && while grep -h ^State: /proc/$p/task/*/status | grep -qv '(stopped)'; do sleep 0.002; done`

// pause stops the server's process. Its kernel goes on: connections stay, and data
// waits.
func (s *server) pause(ctx context.Context) error {
	if !s.isUp() {
		return fmt.Errorf("%s is down, and cannot be paused", s.name)
	}
	s.gate.close()
	if err := s.engine.exec(ctx, s.id, stopScript, false); err != nil {
		s.gate.open()
		return fmt.Errorf("pause of %s: %w", s.name, err)
	}
	return nil
}

// resume continues the server if it is paused.
func (s *server) resume(ctx context.Context) error {
	if !s.gate.wasPaused(time.Now()) {
		return nil
	}
	defer s.gate.open()
	if err := s.engine.exec(ctx, s.id, `kill -CONT "$(cat /data/pid)"`, false); err != nil {
		return fmt.Errorf("resume %s: %w", s.name, err)
	}
	return nil
}
