package bubble

import (
	"context"
	"runtime/pprof"
	_ "unsafe" // for go:linkname
)

// origin identifies an operation's goroutine and all goroutines that it starts: the labels
// of package pprof, which a goroutine inherits from the one that starts it. The operation
// that a request of another goroutine belongs to would otherwise be unknown.
type origin = *byte

// newOrigin makes this goroutine the first one of an operation.
func newOrigin() origin {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("lockcheck", "operation")))
	return originOf()
}

// originOf returns the origin of this goroutine. The runtime keeps this name for packages
// that read labels.
//
//go:linkname originOf runtime/pprof.runtime_getProfLabel
func originOf() origin

// abandon notes that an operation has ended and may have left goroutines behind: what they
// send belongs to no later operation.
func (c *client) abandon(o origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandoned == nil {
		c.abandoned = map[origin]bool{}
	}
	c.abandoned[o] = true
}

// late reports whether this goroutine comes from an abandoned operation.
func (c *client) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.abandoned) > 0 && c.abandoned[originOf()]
}
