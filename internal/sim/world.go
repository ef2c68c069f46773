// Package sim is an environment in virtual time: clients, servers and a network
// in one process, one event at a time. No goroutines run in parallel and no wall
// clock is read, so one seed gives one run.
//
// Tasks are coroutines. A task runs until it waits; the scheduler then takes the
// next event and resumes the task that it concerns.
//
// The package has layers, and each knows only those below it:
//
//   - values: clock, choices, pct, queue, memory, journal
//   - the scheduler: its tasks, and the hosts on which clients' code runs
//   - the network with the servers of Redis and MySQL
//   - the servers of ZooKeeper: ensemble, member, election, broadcast, wire
//   - the clients: what a lock calls, and the client libraries
//   - World: the faults, and the steps and states of a search
package sim

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

var _ env.Environment = (*World)(nil)

// World is an environment in virtual time. It serves one run; Reset makes it a
// new one.
type World struct {
	network
	clients  []*client
	ensemble *ensemble // nil: none
	search   search

	// kept is memory of the last run, for this one.
	kept struct {
		clients  pool[client]
		ensemble ensemble
		layout   layout
	}
}

// New returns a world with the clients and the servers of cfg, and the guarded
// resource.
func New(cfg env.Config, o env.Observer, d env.Decisions) *World {
	w := new(World)
	w.reset(cfg, o, d)
	return w
}

// Simulator returns a world that waits for its first Reset.
func Simulator() env.Simulation { return new(World) }

// Reset makes w like a new world, and reuses the memory of the last run, which
// must be over. Idle coroutines stay for the next run, up to Close.
func (w *World) Reset(cfg env.Config, o env.Observer, d env.Decisions) {
	w.unwind()
	w.reset(cfg, o, d)
	w.again = true
}

func (w *World) reset(cfg env.Config, o env.Observer, d env.Decisions) {
	w.network.reset(cfg, o, d)
	if d.Record {
		w.record = new(traffic)
	}
	if w.search.reset(d) {
		w.order = &w.search.order
		w.now = time.Millisecond // else all times in the history of a run in which no time passes would be 0
	}
	w.clients, w.ensemble = w.clients[:0], nil
	w.kept.clients.recycle()
	w.addServers()
	for _, name := range cfg.Clients {
		w.addClient(name)
	}
}

func (w *World) addClient(name string) *client {
	c := w.kept.clients.next()
	var members []*server
	if w.ensemble != nil {
		members = w.servers[:len(w.ensemble.members)] // its run has no other store
	}
	c.reset(&w.network, name, members)
	w.clients = append(w.clients, c)
	return c
}

// Run lets things happen until the last task has returned: by time, or if the world has
// one, by order.
func (w *World) Run() error {
	defer w.unwind()
	if w.order != nil {
		return w.runInOrder()
	}
	w.driven = true
	w.drive(nil)
	return w.err
}

func (w *World) find(name string) *client {
	for _, c := range w.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Client returns the named client.
func (w *World) Client(name string) env.Client { return w.find(name) }

// Observes returns what the history contains about the servers. A model knows
// everything, except what a MySQL statement means for a grant: the lock must
// declare that.
func (w *World) Observes() []string {
	if w.databases != nil && !w.databases.allDeclared() {
		return nil
	}
	return observes
}

var observes = []string{"ownership", "answers"}

// Decided returns the decisions of the run so far.
func (w *World) Decided() env.Decided {
	c := w.choices
	d := env.Decided{Choices: c.made, Missing: c.missing, Unused: len(c.replayed) - c.used}
	if t, ok := w.record.(*traffic); ok {
		d.Messages = &history.Messages{List: t.list, Left: t.left}
	}
	if w.order != nil {
		o := &w.search
		d.Order, d.Missing, d.Unused = o.taken, o.defaulted, o.unused+len(o.names)+len(o.path)-o.at
	}
	if w.pct != nil {
		d.Steps, d.Expected = w.pct.steps, w.pct.expected
	}
	return d
}

// Join makes the code of o a part of the run. It must be called before Run.
func (w *World) Join(o Outside) { w.outside = o }

// Dial connects a client to a server.
func (w *World) Dial(client, server string, end WireEnd) (*Wire, error) {
	c, s := w.find(client), w.server(server)
	if c == nil || s == nil || s.redis == nil && s.member == nil || s == w.tokens || c.dead {
		return nil, fmt.Errorf("sim: %s cannot connect to %q", client, server)
	}
	x := &Wire{client: &c.endpoint, end: end}
	x.conn = w.connect(&c.endpoint, s)
	x.conn.owner, x.conn.open, x.conn.busy = x, true, true
	if s.member == nil {
		x.conn.front = w.outside.Front(server).Open()
	}
	c.spare = append(c.spare, x.conn)
	c.wires = append(c.wires, x)
	x.send(w.newMessage(x.conn, dial, true))
	return x, nil
}

// MasterOf returns the master of the first node, as a Sentinel or a replica knows it.
func (w *World) MasterOf(server string) string {
	n := w.nodes[0]
	for i, s := range w.monitors {
		if s.name == server && i < len(n.knows) && !n.knows[i] && n.before != nil {
			return n.before.name
		}
	}
	return n.master.name
}

// Paused reports whether a client stands still.
func (w *World) Paused(client string) bool { return w.find(client).paused }

// Revive starts a dead client again with another lock. Its servers know it as before.
func (w *World) Revive(name string, l locks.Locker) {
	c := w.find(name)
	for _, x := range c.wires {
		x.closed = true
	}
	c.wires, c.leases, c.locker, c.operation = nil, c.leases[:0], l, nil
	c.dead, c.paused, c.hung = false, false, false
}

// Locker returns the lock of a client.
func (w *World) Locker(client string) locks.Locker { return w.find(client).locker }
