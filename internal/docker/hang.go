package docker

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// Hang has what the client's caller waits for stand still. The process runs
// on, with all that it does in the background: a point that the operation has
// reached does not let it go, and what it has not begun yet is not asked of it.
func (p *Place) Hang(name string) error { return p.hang(name, true) }

// Unhang lets it go on.
func (p *Place) Unhang(name string) error { return p.hang(name, false) }

func (p *Place) hang(name string, hung bool) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	c.hung.Store(hung)
	return nil
}

// stands waits while an operation of the client's stands still, and while all of
// the client does if paused. What nobody waits for does not hang. false: the
// client is dead.
func (c *client) stands(r *running, paused bool) bool {
	for (c.hung.Load() && !r.entry.uncalled || paused && c.paused.Load()) && !c.ended() {
		time.Sleep(time.Millisecond)
	}
	return !c.ended()
}

// ended tells whether the client is dead, or the run over.
func (c *client) ended() bool { return c.dead.Load() || c.place.ctx.Err() != nil }

// goesOn waits as stands does. The error is that the client is dead.
func (c *client) goesOn(r *running) error {
	if !c.stands(r, false) {
		return env.ErrCrashed
	}
	return nil
}
