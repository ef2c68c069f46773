// Package harness is one run: start the place, let clients and faults act,
// record what everybody saw, heal.
package harness

import (
	"cmp"
	"errors"
	"sync"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/workloads"
)

// Open makes the place of a run.
type Open func(env.Config, env.Observer) (env.Environment, error)

// Buffer is memory that one run after another may use, in environments where nothing
// happens any more when Run returns. The history of a run is then good until the
// next. The zero Buffer is ready for Run.
type Buffer struct {
	recorder recorder
	world    env.Simulation
	bytes    []byte // of a state
	limit    int    // of events in a run; 0: the usual
}

// NewBuffer is a Buffer with a simulation. It has to be closed.
func NewBuffer(sim env.Simulator) *Buffer { return &Buffer{world: sim()} }

// Simulate carries out a plan in virtual time as Run does, in the buffer.
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

// Events is how many events the last simulated run had.
func (b *Buffer) Events() int { return b.world.Events() }

// Decided is what the last simulated run has decided.
func (b *Buffer) Decided() env.Decided { return b.world.Decided() }

// Limit is how many events each of the next simulated runs may have.
func (b *Buffer) Limit(events int) { b.limit = events }

// Close lets go of what is not memory.
func (b *Buffer) Close() error { return b.world.Close() }

// Run carries out a plan and returns what happened. With an error the history
// is what there was until then, or all there is, with a CloseError. A run that has
// used up its budget is none: its history ends with that instead of history.Ended,
// so that nothing in it is valid. buffer and
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
	place, err := open(cfg, rec)
	if err != nil {
		return nil, err
	}
	whole := 0
	defer func() {
		var closed error
		if place != buffer.world { // which outlives its run
			closed = place.Close()
		}
		switch {
		case err != nil:
			err = &brokenError{errors.Join(err, closed), whole}
		case closed != nil:
			err = &CloseError{closed}
		}
	}()
	if _, ok := place.(sequential); ok {
		rec.mu.off, rec.injector.mu.off, rec.injector.instant = true, true, true
	}
	rec.begin(place, plan.header(place.Observes()))
	rec.injector.lock = cfg.Lock
	rec.injector.schedule(plan.Faults)

	if plan.On != "sim" {
		place.Go(func() { rec.watch(plan.Lease) })
	}
	for _, c := range rec.clients[:len(plan.Clients)] {
		place.Go(c.task)
	}
	ran := place.Run()
	if spent, ok := errors.AsType[env.BudgetError](ran); ok {
		rec.add(&history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Budget, Text: string(spent)})
		ran = nil
	}
	alive := rec.alive()
	err = cmp.Or(rec.injector.err, alive, ran) // a fault that failed says more than how the run ended
	whole = rec.whole(alive)
	if wrong, ok := errors.AsType[*env.ProtocolError](ran); ok {
		err, whole = wrong, 0
	}
	rec.close(place.Observes())
	return &rec.history, err
}

// play is the task of one client.
func (r *recorder) play(c *client) {
	if r.plan.Scripts != nil {
		r.plan.Scripts[c.n].Run(c, r.plan.Lease)
	} else {
		r.random(c).Run(c)
	}
	r.ended(c)
}

// section goes through one critical section of a client's.
func (r *recorder) section(c *client) workloads.Result {
	if r.plan.Scripts != nil {
		return r.plan.Scripts[c.n].Section(c, c.acquisition)
	}
	return r.random(c).Section(c)
}

// random is what a client does without a script.
func (r *recorder) random(c *client) workloads.Random {
	workload, _ := workloads.Find(r.plan.Workload)
	w := workloads.Random{
		Workload: workload, Nth: c.n,
		Acquires: r.plan.SectionsOf(c.n), Lease: r.plan.Lease, Shape: r.plan.shape(), Once: r.ordered(),
	}
	if w.Once {
		w.Again = c.again
	}
	return w
}

// ordered tells whether order decides what happens, and no length.
func (r *recorder) ordered() bool {
	place, ok := r.place.(env.Ordering)
	return ok && place.Ordered()
}

// sequential is a Place in which one thing happens at a time.
type sequential interface{ Sequential() }

// mutex is a sync.Mutex that a sequential place switches off.
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
