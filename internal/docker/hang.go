package docker

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// Hang stops the task that the client's caller waits for. The process and its
// background tasks go on. An operation that has reached a point stays there; one that
// has not begun is not sent.
func (p *Environment) Hang(name string) error { return p.hang(name, true) }

// Unhang ends Hang.
func (p *Environment) Unhang(name string) error { return p.hang(name, false) }

func (p *Environment) hang(name string, hung bool) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	c.hung.Store(hung)
	return nil
}

// blocks waits while the client's operation hangs, or, if paused, while the client is
// paused. Unrequested entries do not hang. It returns false if the client is dead.
func (c *client) blocks(r *openOperation, paused bool) bool {
	for (c.hung.Load() && !r.entry.unrequested || paused && c.paused.Load()) && !c.isOver() {
		time.Sleep(time.Millisecond)
	}
	return !c.isOver()
}

// isOver reports whether the client is dead, or the run over.
func (c *client) isOver() bool { return c.dead.Load() || c.place.ctx.Err() != nil }

// awaitUnhang waits while the operation hangs. It returns an error if the client is
// dead.
func (c *client) awaitUnhang(r *openOperation) error {
	if !c.blocks(r, false) {
		return env.ErrCrashed
	}
	return nil
}
