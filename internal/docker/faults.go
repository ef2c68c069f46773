package docker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// onHost acts on the named server or client.
func (e *Environment) onHost(name string, onServer func(machine) error, onClient func(*client) error) error {
	if s, ok := e.machines[name]; ok {
		return onServer(s)
	}
	return e.onClient(name, onClient)
}

// onMachine acts on the named server.
func (e *Environment) onMachine(name string, do func(machine) error) error {
	s, ok := e.machines[name]
	if !ok {
		return fmt.Errorf("docker: no server %q", name)
	}
	return do(s)
}

// onStore acts on the named Redis server that keeps locks.
func (e *Environment) onStore(name string, do func(*server) error) error {
	s, ok := e.machines[name].(*server)
	if !ok {
		return fmt.Errorf("docker: no Redis server %q", name)
	}
	return do(s)
}

// onClient acts on the named client.
func (e *Environment) onClient(name string, do func(*client) error) error {
	c, err := e.find(name)
	if err != nil {
		return err
	}
	return do(c)
}

// Pause stops a client's processes, or a server's process.
func (e *Environment) Pause(name string) error {
	return e.onHost(name, func(s machine) error { return s.pause(e.ctx) }, (*client).pause)
}

// Resume continues a paused client or server.
func (e *Environment) Resume(name string) error {
	return e.onHost(name, func(s machine) error { return s.resume(e.ctx) }, (*client).resume)
}

// Kill ends the client's processes; the kernel closes their connections.
func (e *Environment) Kill(name string) error {
	return e.onClient(name, (*client).kill)
}

// PowerOff ends the client's processes. Its links keep the connections to the servers
// open and silent.
func (e *Environment) PowerOff(name string) error {
	return e.onClient(name, func(c *client) error {
		for _, l := range c.links {
			l.dark.Store(true)
		}
		return c.kill()
	})
}

// Stop ends the server's process.
func (e *Environment) Stop(name string, lose bool) error {
	return e.onMachine(name, func(s machine) error { return s.stop(e.ctx, lose) })
}

// Start starts a stopped server.
func (e *Environment) Start(name string) error {
	return e.onMachine(name, func(s machine) error { return s.start(e.ctx) })
}

// Keeps reports whether a server answers only from its disk, like the members of an
// ensemble.
func (e *Environment) Keeps(string) bool { return e.ensemble != nil }

// Evict makes the server's memory short.
func (e *Environment) Evict(name string) error {
	return e.onStore(name, func(s *server) error { return s.evict(e.ctx, e.cfg.Server.Eviction) })
}

// Relieve removes the limit of the server's memory.
func (e *Environment) Relieve(name string) error {
	return e.onStore(name, (*server).relieve)
}

// Jump moves the wall clock of a client or a server.
func (e *Environment) Jump(host string, by time.Duration) error {
	return e.onHost(host, func(s machine) error { return s.jump(e.ctx, by) }, func(c *client) error {
		return c.each(func(c *client) error { return c.jump(by) })
	})
}

// Rate makes the clocks of a client gain this much in each T. It returns an error for
// servers: their clocks are those of this machine, and libfaketime sets a rate only
// when a server starts.
func (e *Environment) Rate(host string, gain time.Duration) error {
	fails := func(machine) error { return fmt.Errorf("docker: the clocks of %s cannot be made fast or slow", host) }
	return e.onHost(host, fails, func(c *client) error {
		return c.each(func(c *client) error { return c.rate(gain) })
	})
}

// Impair disturbs a link until Restore.
func (e *Environment) Impair(id int, im faults.Impairment) error {
	c, err := e.find(im.Client)
	if err != nil {
		return err
	}
	im.Client = c.clients[0].name // all clients of a process share one link
	there := slices.ContainsFunc(e.far, func(f farServer) bool { return f.serverName() == im.Server && f != farServer(e.tokens) })
	if im.Server != history.Resource && !there {
		return fmt.Errorf("docker: no server %q", im.Server)
	}
	e.disturb.begin(id, im)
	return nil
}

// Restore ends a disturbance. Held messages arrive, and the kernels resend dropped
// packets. hits counts messages, or packets between servers.
func (e *Environment) Restore(id int) (hits int, err error) {
	if hits, known, err := e.join(id); known {
		return hits, err
	}
	return e.disturb.end(id)
}

// Hang stops the task that the client's caller waits for. The process and its
// background tasks go on. An operation that has reached a point stays there; one that
// has not begun is not sent.
func (e *Environment) Hang(name string) error { return e.hang(name, true) }

// Unhang ends Hang.
func (e *Environment) Unhang(name string) error { return e.hang(name, false) }

func (e *Environment) hang(name string, hung bool) error {
	return e.onClient(name, func(c *client) error {
		c.hung.Store(hung)
		return nil
	})
}
