// Package harness executes one run: it starts the environment, lets clients and faults
// act, records what everybody saw, and heals.
package harness

import (
	"cmp"
	"errors"
	"sync"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/workloads"
)

// Open makes the environment of a run.
type Open func(env.Config, env.Observer) (env.Environment, error)

// Buffer is memory that runs use one after another, in environments where nothing
// happens after Run has returned. A history is valid until the next run. The zero
// Buffer is ready for Run.
type Buffer struct {
	recorder recorder
	world    env.Simulation
	bytes    []byte // of a state
	limit    int    // of events in a run; 0: the default
}

// NewBuffer returns a Buffer with a simulation. The caller closes it.
func NewBuffer(sim env.Simulator) *Buffer { return &Buffer{world: sim()} }

// Simulate executes a plan in virtual time like Run, in the buffer.
func (b *Buffer) Simulate(plan *Plan, d env.Decisions, sink func(*history.Entry)) (*history.History, error) {
	open := func(cfg env.Config, o env.Observer) (env.Environment, error) {
		b.world.Reset(cfg, o, d)
		if b.limit > 0 {
			b.world.Limit(b.limit)
		}
		return b.world, nil
	}
	return Run(plan, open, b, sink)
}

// Events returns how many events the last simulated run had.
func (b *Buffer) Events() int { return b.world.Events() }

// Decided returns the decisions of the last simulated run.
func (b *Buffer) Decided() env.Decided { return b.world.Decided() }

// Limit sets how many events each of the next simulated runs may have.
func (b *Buffer) Limit(events int) { b.limit = events }

// Close releases everything but memory.
func (b *Buffer) Close() error { return b.world.Close() }

// Run executes a plan and returns its history. On error it still returns the partial
// history, or the whole one with a CloseError. If a run uses up its budget, its history
// ends with that instead of history.Ended, so that nothing in it is valid. buffer and
// sink may be nil; sink gets each entry at the moment when it is recorded.
func Run(plan *Plan, open Open, buffer *Buffer, sink func(*history.Entry)) (h *history.History, err error) {
	cfg, err := plan.Config()
	if err != nil {
		return nil, err
	}
	if buffer == nil {
		buffer = new(Buffer)
	}
	rec := &buffer.recorder
	rec.reset(plan, sink)
	environment, err := open(cfg, rec)
	if err != nil {
		return nil, err
	}
	whole := 0
	defer func() {
		var closed error
		if environment != buffer.world { // the buffer's simulation outlives its run
			closed = environment.Close()
		}
		switch {
		case err != nil:
			err = &brokenError{errors.Join(err, closed), whole}
		case closed != nil:
			err = &CloseError{closed}
		}
	}()
	if _, ok := environment.(env.Simulation); ok {
		rec.mu.off, rec.injector.mu.off, rec.injector.instant = true, true, true
	}
	rec.begin(environment, plan.header(environment.Observes()))
	rec.injector.lock = cfg.Lock
	rec.injector.schedule(plan.Faults)

	if !env.IsVirtual(plan.On) {
		environment.Go(func() { rec.watch(plan.Lease) })
	}
	for _, c := range rec.clients[:len(plan.Clients)] {
		environment.Go(c.task)
	}
	ran := environment.Run()
	if spent, ok := errors.AsType[env.BudgetError](ran); ok {
		rec.add(&history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Budget, Text: string(spent)})
		ran = nil
	}
	var alive error
	if p, ok := environment.(liveEnvironment); ok {
		alive = p.Alive()
	}
	err = cmp.Or(rec.injector.err, alive, ran) // a failed fault explains more than the end of the run
	whole = rec.intactEntries(alive)
	if wrong, ok := errors.AsType[*env.ProtocolError](ran); ok {
		err, whole = wrong, 0
	}
	rec.close(environment.Observes())
	return &rec.history, err
}

// play is the task of one client.
func (r *recorder) play(c *client) {
	if r.plan.Scripts != nil {
		r.plan.Scripts[c.n].Run(c, r.plan.Lease)
	} else {
		for w := r.random(c); ; w.Acquires = max(1, r.plan.SectionsOf(c.n)-c.acquisition) {
			w.Run(c)
			if !r.restart(c) {
				break
			}
		}
	}
	r.finishScript(c)
}

// section goes through one critical section of a client.
func (r *recorder) section(c *client) workloads.Result {
	if r.plan.Scripts != nil {
		return r.plan.Scripts[c.n].Section(c, c.acquisition)
	}
	return r.random(c).Section(c)
}

// random returns the workload of a client without a script.
func (r *recorder) random(c *client) workloads.Random {
	workload, _ := workloads.Find(r.plan.Workload)
	w := workloads.Random{
		Workload: workload, Nth: c.n,
		Acquires: r.plan.SectionsOf(c.n), Lease: r.plan.Lease, Shape: r.plan.shape(), Once: r.ordered(),
	}
	if w.Once {
		w.Again = c.askAgain
	}
	return w
}

// ordered reports whether order decides what happens, and durations do not.
func (r *recorder) ordered() bool {
	environment, ok := r.environment.(env.Ordering)
	return ok && environment.Ordered()
}

// mutex is a sync.Mutex that does nothing in a simulation.
type mutex struct {
	sync.Mutex
	off bool
}

func (m *mutex) Lock() {
	if !m.off {
		m.Mutex.Lock()
	}
}

func (m *mutex) Unlock() {
	if !m.off {
		m.Mutex.Unlock()
	}
}
