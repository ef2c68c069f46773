package clients

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// blocks waits while the client's operation hangs, or, if paused, while the client is
// paused. Unrequested entries do not hang. It returns false if the client is dead.
func (c *client) blocks(r *openOperation, paused bool) bool {
	for (c.hung.Load() && !r.entry.unrequested || paused && c.paused.Load()) && !c.isOver() {
		time.Sleep(time.Millisecond)
	}
	return !c.isOver()
}

// isOver reports whether the client is dead, or the run over.
func (c *client) isOver() bool { return c.dead.Load() || c.run.Ctx.Err() != nil }

// awaitUnhang waits while the operation hangs. It returns an error if the client is
// dead.
func (c *client) awaitUnhang(r *openOperation) error {
	if !c.blocks(r, false) {
		return env.ErrCrashed
	}
	return nil
}
