package docker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// onHost acts on the named server or client.
func (p *Environment) onHost(name string, onServer func(machine) error, onClient func(*client) error) error {
	if s, err := p.machine(name); err == nil {
		return onServer(s)
	}
	return p.onClient(name, onClient)
}

// onClient acts on the named client.
func (p *Environment) onClient(name string, do func(*client) error) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return do(c)
}

// Pause stops a client's processes, or a server's process.
func (p *Environment) Pause(name string) error {
	return p.onHost(name, func(s machine) error { return s.pause(p.ctx) }, func(c *client) error { return c.pause() })
}

// Resume continues a paused client or server.
func (p *Environment) Resume(name string) error {
	return p.onHost(name, func(s machine) error { return s.resume(p.ctx) }, func(c *client) error { return c.resume() })
}

// Kill ends the client's processes; the kernel closes their connections.
func (p *Environment) Kill(name string) error {
	return p.onClient(name, func(c *client) error { return c.kill() })
}

// PowerOff ends the client's processes. Its links keep the connections to the servers
// open and silent.
func (p *Environment) PowerOff(name string) error {
	return p.onClient(name, func(c *client) error {
		for _, l := range c.links {
			l.dark.Store(true)
		}
		return c.kill()
	})
}

// Stop ends the server's process.
func (p *Environment) Stop(name string, lose bool) error {
	s, err := p.machine(name)
	if err != nil {
		return err
	}
	return s.stop(p.ctx, lose)
}

// Start starts a stopped server.
func (p *Environment) Start(name string) error {
	s, err := p.machine(name)
	if err != nil {
		return err
	}
	return s.start(p.ctx)
}

// Keeps reports whether a server answers only from its disk, like the members of an
// ensemble.
func (p *Environment) Keeps(string) bool { return p.ensemble != nil }

// Evict makes the server's memory short.
func (p *Environment) Evict(name string) error {
	s, err := p.store(name)
	if err != nil {
		return err
	}
	return s.evict(p.ctx, p.cfg.Server.Eviction)
}

// Relieve removes the limit of the server's memory.
func (p *Environment) Relieve(name string) error {
	s, err := p.store(name)
	if err != nil {
		return err
	}
	return s.relieve()
}

// Jump moves the wall clock of a client or a server.
func (p *Environment) Jump(host string, by time.Duration) error {
	return p.onHost(host, func(s machine) error { return s.jump(p.ctx, by) }, func(c *client) error {
		return c.each(func(c *client) error { return c.jump(by) })
	})
}

// Rate makes the clocks of a client gain this much in each T. It returns an error for
// servers: their clocks are those of this machine, and libfaketime sets a rate only
// when a server starts.
func (p *Environment) Rate(host string, gain time.Duration) error {
	fails := func(machine) error { return fmt.Errorf("docker: the clocks of %s cannot be made fast or slow", host) }
	return p.onHost(host, fails, func(c *client) error {
		return c.each(func(c *client) error { return c.rate(gain) })
	})
}

// Impair disturbs a link until Restore.
func (p *Environment) Impair(id int, im faults.Impairment) error {
	c, err := p.find(im.Client)
	if err != nil {
		return err
	}
	im.Client = c.clients[0].name // all clients of a process share one link
	there := slices.ContainsFunc(p.farServers(), func(f farServer) bool { return f.serverName() == im.Server && f != farServer(p.tokens) })
	if im.Server != history.Resource && !there {
		return fmt.Errorf("docker: no server %q", im.Server)
	}
	p.disturb.begin(id, im)
	return nil
}

// Restore ends a disturbance. Held messages arrive, and the kernels resend dropped
// packets. hits counts messages, or packets between servers.
func (p *Environment) Restore(id int) (hits int, err error) {
	if hits, known, err := p.join(id); known {
		return hits, err
	}
	return p.disturb.end(id)
}

// Hang stops the task that the client's caller waits for. The process and its
// background tasks go on. An operation that has reached a point stays there; one that
// has not begun is not sent.
func (p *Environment) Hang(name string) error { return p.hang(name, true) }

// Unhang ends Hang.
func (p *Environment) Unhang(name string) error { return p.hang(name, false) }

func (p *Environment) hang(name string, hung bool) error {
	return p.onClient(name, func(c *client) error {
		c.hung.Store(hung)
		return nil
	})
}
