package docker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// Pause stops a client's processes, or a server's.
func (p *Place) Pause(name string) error {
	if s, err := p.machine(name); err == nil {
		return s.pause(p.ctx)
	}
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.pause()
}

// Resume lets them go on.
func (p *Place) Resume(name string) error {
	if s, err := p.machine(name); err == nil {
		return s.resume(p.ctx)
	}
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.resume()
}

// Kill ends the client's processes; the kernel closes their connections.
func (p *Place) Kill(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.kill()
}

// PowerOff ends the client's processes, and its links keep the connections to
// the servers open and silent.
func (p *Place) PowerOff(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	for _, l := range c.links {
		l.dark.Store(true)
	}
	return c.kill()
}

// Stop ends the server's process.
func (p *Place) Stop(name string, lose bool) error {
	s, err := p.machine(name)
	if err != nil {
		return err
	}
	return s.stop(p.ctx, lose)
}

// Start starts it again.
func (p *Place) Start(name string) error {
	s, err := p.machine(name)
	if err != nil {
		return err
	}
	return s.start(p.ctx)
}

// Keeps tells whether a server answers only what is on its disk, as members of
// an ensemble do.
func (p *Place) Keeps(string) bool { return p.ensemble != nil }

// Evict makes its memory short.
func (p *Place) Evict(name string) error {
	s, err := p.store(name)
	if err != nil {
		return err
	}
	return s.evict(p.ctx, p.cfg.Server.Eviction)
}

// Relieve gives it as much as it wants.
func (p *Place) Relieve(name string) error {
	s, err := p.store(name)
	if err != nil {
		return err
	}
	return s.relieve()
}

// Jump moves the wall clock of a client or a server.
func (p *Place) Jump(host string, by time.Duration) error {
	if s, err := p.machine(host); err == nil {
		j, ok := s.(interface {
			jump(ctx context.Context, by time.Duration) error
		})
		if !ok {
			return errNoJump(host)
		}
		return j.jump(p.ctx, by)
	}
	c, err := p.find(host)
	if err != nil {
		return err
	}
	return c.each(func(c *client) error { return c.jump(by) })
}

// Rate lets the clocks of a client gain so much in each T. Those of a server
// run as this machine's: libfaketime can make them fast or slow only when the
// server starts.
func (p *Place) Rate(host string, gain time.Duration) error {
	if _, err := p.machine(host); err == nil {
		return fmt.Errorf("docker: the clocks of %s cannot be made fast or slow", host)
	}
	c, err := p.find(host)
	if err != nil {
		return err
	}
	return c.each(func(c *client) error { return c.rate(gain) })
}

// Impair disturbs a link until Restore.
func (p *Place) Impair(id int, im faults.Impairment) error {
	c, err := p.find(im.Client)
	if err != nil {
		return err
	}
	im.Client = c.clients[0].name // the link is one for all of them
	there := slices.ContainsFunc(p.fars(), func(f far) bool { return f.called() == im.Server && f != far(p.tokens) })
	if im.Server != history.Resource && !there {
		return fmt.Errorf("docker: no server %q", im.Server)
	}
	p.disturb.begin(id, im)
	return nil
}

// Restore ends a disturbance; what it held arrives, and what it dropped is
// sent again by the kernels of those who sent it. hits are messages, or packets
// between servers.
func (p *Place) Restore(id int) (hits int, err error) {
	if hits, known, err := p.join(id); known {
		return hits, err
	}
	return p.disturb.end(id)
}
