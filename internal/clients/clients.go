// Package clients has the clients of a run with real servers. A client is a process that
// speaks the worker protocol (package worker). A pause is SIGSTOP, a crash SIGKILL;
// harness/inject.go says when. The client reaches each server through a link, a TCP proxy.
// Links apply partitions, delays and lost replies, assign each request to its operation,
// and replace the addresses that Sentinels announce by those of links.
//
// An environment brings the servers, and what it observes of them: see Server and Dialect.
// The files build on each other. From the ground up: disturb, conn and link, with the
// protocols of servers (redis, zookeeper, mysql); run, program and client; this file with
// the faults of clients.
//
// Pausing needs Linux.
package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Clients are the clients of a run. They are the part of an env.Environment that does not
// depend on who started the servers.
type Clients struct {
	*run
	living   sync.Mutex // guards programs while the clients run
	programs []*program
}

// Setup is what clients need beside the settings of their run.
type Setup struct {
	Command []string // of a worker
	Env     []string // added to the environment of workers
	Servers []Server
	Kind    string // of the servers that keep locks, as workers call it
	// Targets returns the targets of a worker from the addresses of its links, which are in
	// the order of Servers.
	Targets func(addrs []string) map[string][]string
	// Announced are the addresses by which servers name each other, as host:port.
	Announced map[string]Server
	// Prefix stands before the names of locks in the stores. Histories do not have it.
	Prefix string
}

// names returns the names of locks in the stores.
func (s *Setup) names(locks []string) (list []string) {
	for _, name := range locks {
		list = append(list, s.Prefix+name)
	}
	return list
}

// New returns the clients of a run before they are started. When ctx ends, all clients are
// dead and Run returns its error.
func New(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *Clients {
	return &Clients{run: newRun(ctx, cfg, o, opts)}
}

// Command returns the command of a worker.
func Command(cfg env.Config, opts Options) ([]string, error) {
	switch {
	case len(cfg.Worker) > 0:
		return cfg.Worker, nil
	case len(opts.Worker) > 0:
		return opts.Worker, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program that starts workers: %w", err)
	}
	return []string{self, "worker"}, nil
}

// Launch starts the clients, and returns when all are ready. entries are those that a user's
// worker declares.
func (e *Clients) Launch(s Setup) (entries []worker.Entry, err error) {
	e.setup = s
	for _, name := range e.Cfg.Clients {
		if mates := e.Cfg.Lock.Mates(e.Cfg.Clients, name); mates[0] == name {
			e.programs = append(e.programs, &program{run: e.run, op: new(atomic.Int64)})
		}
		e.programs[len(e.programs)-1].add(name)
	}
	for _, g := range e.programs {
		if err := g.connect(s.Servers); err != nil {
			return nil, err
		}
		if err := g.launch(); err != nil {
			return nil, err
		}
	}
	err = Together(e.programs, (*program).init)
	if wrong, ok := errors.AsType[*env.ProtocolError](err); ok {
		return nil, wrong // the others fail alike
	}
	if err != nil || len(e.Cfg.Worker) == 0 {
		return nil, err
	}
	return e.programs[0].entries, nil // the same command gives the same entries
}

// Close ends the clients and their links, and interrupts Run.
func (e *Clients) Close() error {
	e.cancel()
	var errs []error
	for _, g := range e.current() {
		errs = append(errs, g.close())
	}
	return errors.Join(errs...)
}

// current returns the programs of now.
func (e *Clients) current() []*program {
	e.living.Lock()
	defer e.living.Unlock()
	return slices.Clone(e.programs)
}

// Restart starts a killed client, which is alone in its process, as a new process. Its
// links stay.
func (e *Clients) Restart(name string) error {
	c, err := e.find(name)
	if err != nil {
		return err
	}
	c.op.Store(0)
	g := &program{run: e.run, op: c.op, links: c.links}
	g.add(name)
	err = g.launch()
	if err == nil {
		err = g.init()
	}
	e.living.Lock()
	defer e.living.Unlock()
	if err == nil {
		err = e.Ctx.Err()
	}
	if err != nil {
		if g.process != nil {
			g.process.Kill()
		}
		return err
	}
	e.programs[slices.Index(e.programs, c.program)] = g
	return nil
}

// Interrupt ends the run like the end of its context.
func (e *Clients) Interrupt() { e.cancel() }

// Cut resets all connections of clients to a server.
func (e *Clients) Cut(s Server) {
	for _, g := range e.current() {
		for _, l := range g.links {
			if l.far == s {
				l.cut()
			}
		}
	}
}

// Addrs returns the addresses of the servers for a client, in the order of Setup.Servers;
// nil: there is no such client.
func (e *Clients) Addrs(client string) []string {
	if c, err := e.find(client); err == nil {
		return c.addrs()
	}
	return nil
}

// Assign assigns further requests on a client's links to an operation.
func (e *Clients) Assign(name string, op int) error {
	return e.onClient(name, func(c *client) error {
		c.op.Store(int64(op))
		return nil
	})
}

// LinkName returns the name by which links and servers know a client: that of the first
// client in its process.
func (e *Clients) LinkName(client string) (string, error) {
	c, err := e.find(client)
	if err != nil {
		return "", err
	}
	return c.clients[0].name, nil
}

// Unnamed reports whether a grant of a user's lock has no entry with the lock's name.
func (e *Clients) Unnamed() bool { return e.own != nil && e.own.unnamed.Load() }

func (e *Clients) find(name string) (*client, error) {
	for _, g := range e.current() {
		for _, c := range g.clients {
			if c.name == name {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("no client %q", name)
}

// Starved implements env.Busy.
func (e *Clients) Starved() (longest time.Duration) {
	for _, g := range e.current() {
		longest = max(longest, g.process.Starved())
	}
	return longest
}

// Client returns the named client, which the configuration has.
func (e *Clients) Client(name string) env.Client {
	c, _ := e.find(name)
	if c.can(worker.FeatureRun) {
		return runner{c}
	}
	return c
}

// onClient acts on the named client.
func (e *Clients) onClient(name string, do func(*client) error) error {
	c, err := e.find(name)
	if err != nil {
		return err
	}
	return do(c)
}

// Pause stops a client's processes.
func (e *Clients) Pause(name string) error { return e.onClient(name, (*client).pause) }

// Resume continues a paused client.
func (e *Clients) Resume(name string) error { return e.onClient(name, (*client).resume) }

// Kill ends the client's processes; the kernel closes their connections.
func (e *Clients) Kill(name string) error { return e.onClient(name, (*client).kill) }

// PowerOff ends the client's processes. Its links keep the connections to the servers
// open and silent.
func (e *Clients) PowerOff(name string) error {
	return e.onClient(name, func(c *client) error {
		for _, l := range c.links {
			l.dark.Store(true)
		}
		return c.kill()
	})
}

// Hang stops the task that the client's caller waits for. The process and its
// background tasks go on. An operation that has reached a point stays there; one that
// has not begun is not sent.
func (e *Clients) Hang(name string) error { return e.hang(name, true) }

// Unhang ends Hang.
func (e *Clients) Unhang(name string) error { return e.hang(name, false) }

func (e *Clients) hang(name string, hung bool) error {
	return e.onClient(name, func(c *client) error {
		c.hung.Store(hung)
		return nil
	})
}

// Jump moves the wall clock of a client.
func (e *Clients) Jump(name string, by time.Duration) error {
	return e.onClient(name, func(c *client) error {
		return c.each(func(c *client) error { return c.jump(by) })
	})
}

// Rate makes the clocks of a client gain this much in each T.
func (e *Clients) Rate(name string, gain time.Duration) error {
	return e.onClient(name, func(c *client) error {
		return c.each(func(c *client) error { return c.rate(gain) })
	})
}

// Impair disturbs a link until Restore.
func (e *Clients) Impair(id int, im faults.Impairment) (err error) {
	if im.Client, err = e.LinkName(im.Client); err != nil { // all clients of a process share one link
		return err
	}
	if im.Server != history.Resource && !slices.ContainsFunc(e.setup.Servers, func(s Server) bool { return s.Name() == im.Server }) {
		return fmt.Errorf("no server %q", im.Server)
	}
	e.disturb.begin(id, im)
	return nil
}

// Restore ends a disturbance of a link. Held messages arrive. hits counts messages.
func (e *Clients) Restore(id int) (hits int, err error) { return e.disturb.end(id) }

// WhenStruck implements env.OneShot.
func (e *Clients) WhenStruck(f func(id int)) { e.disturb.struck = f }

// Together calls do for each of a list in parallel. It reports equal errors once.
func Together[S any](list []S, do func(S) error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, s := range list {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	said := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := err != nil && said[err.Error()]
		if err != nil {
			said[err.Error()] = true
		}
		return again
	})...)
}
