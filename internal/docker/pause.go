package docker

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// gate is closed while a server stands still. That time does not count as
// time that the server takes.
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

// still tells whether the server stands still, or has since that time. A
// server without a gate never does.
func (g *gate) still(since time.Time) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed || g.opened.After(since)
}

// stopped is a script that stops the server and waits until all its threads
// stand still.
const stopped = `p=$(cat /data/pid) && kill -STOP "$p" && while grep -h ^State: /proc/$p/task/*/status | grep -qv '(stopped)'; do sleep 0.002; done`

// pause has the server's process stand still. Its kernel goes on: connections
// stay, and what arrives waits.
func (s *server) pause(ctx context.Context) error {
	if !s.isUp() {
		return fmt.Errorf("%s is down, and cannot stand still", s.name)
	}
	s.gate.close()
	if err := s.engine.exec(ctx, s.id, stopped, false); err != nil {
		s.gate.open()
		return fmt.Errorf("pause of %s: %w", s.name, err)
	}
	return nil
}

// resume lets it go on, if it stands still.
func (s *server) resume(ctx context.Context) error {
	if !s.gate.still(time.Now()) {
		return nil
	}
	defer s.gate.open()
	if err := s.engine.exec(ctx, s.id, `kill -CONT "$(cat /data/pid)"`, false); err != nil {
		return fmt.Errorf("resume %s: %w", s.name, err)
	}
	return nil
}
