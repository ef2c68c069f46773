package docker

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// onHost acts on the named server or client.
func (e *Environment) onHost(name string, onServer func(machine) error, onClient func(name string) error) error {
	if s, ok := e.machines[name]; ok {
		return onServer(s)
	}
	return onClient(name)
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

// Pause stops a client's processes, or a server's process.
func (e *Environment) Pause(name string) error {
	return e.onHost(name, func(s machine) error { return s.pause(e.Ctx) }, e.Clients.Pause)
}

// Resume continues a paused client or server.
func (e *Environment) Resume(name string) error {
	return e.onHost(name, func(s machine) error { return s.resume(e.Ctx) }, e.Clients.Resume)
}

// Stop ends the server's process.
func (e *Environment) Stop(name string, lose bool) error {
	return e.onMachine(name, func(s machine) error { return s.stop(e.Ctx, lose) })
}

// Start starts a stopped server.
func (e *Environment) Start(name string) error {
	return e.onMachine(name, func(s machine) error { return s.start(e.Ctx) })
}

// Keeps reports whether a server answers only from its disk, like the members of an
// ensemble.
func (e *Environment) Keeps(string) bool { return e.ensemble != nil }

// Evict makes the server's memory short.
func (e *Environment) Evict(name string) error {
	return e.onStore(name, func(s *server) error { return s.evict(e.Ctx, e.Cfg.Server.Eviction) })
}

// Relieve removes the limit of the server's memory.
func (e *Environment) Relieve(name string) error {
	return e.onStore(name, (*server).relieve)
}

// Jump moves the wall clock of a client or a server.
func (e *Environment) Jump(host string, by time.Duration) error {
	return e.onHost(host, func(s machine) error { return s.jump(e.Ctx, by) }, func(client string) error { return e.Clients.Jump(client, by) })
}

// Rate makes the clocks of a client gain this much in each T. It returns an error for
// servers: their clocks are those of this machine, and libfaketime sets a rate only
// when a server starts.
func (e *Environment) Rate(host string, gain time.Duration) error {
	fails := func(machine) error { return fmt.Errorf("docker: the clocks of %s cannot be made fast or slow", host) }
	return e.onHost(host, fails, func(client string) error { return e.Clients.Rate(client, gain) })
}

// Impair disturbs a link until Restore. No fault touches the server of tokens.
func (e *Environment) Impair(id int, im faults.Impairment) error {
	if e.tokens != nil && im.Server == e.tokens.name {
		return fmt.Errorf("docker: %s keeps no locks", im.Server)
	}
	return e.Clients.Impair(id, im)
}

// Restore ends a disturbance. Held messages arrive, and the kernels resend dropped
// packets. hits counts messages, or packets between servers.
func (e *Environment) Restore(id int) (hits int, err error) {
	if hits, known, err := e.join(id); known {
		return hits, err
	}
	return e.Clients.Restore(id)
}
