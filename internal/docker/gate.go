package docker

import (
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
