package docker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Environment is the environment of one run: its servers, its clients, and the links
// between them.
type Environment struct {
	*clients.Clients
	engine    *engine
	layout    catalogue.Layout
	stores    []*server // in the order of the layout
	sentinels []*server
	tokens    *server            // nil: none
	ensemble  *ensemble          // instead of all these; nil: none
	mysql     *primary           // instead of the stores; nil: none
	machines  map[string]machine // the servers that keep locks, by name
	peers     []*box             // the servers that communicate with each other
	far       []farServer        // all servers as the ends of links
	declared  bool               // workers have declared the entries of their lock
	sound     bool               // Alive has found all servers alive

	mu sync.Mutex
	// isolated are the servers that are cut off from the others, by partition; mu guards it.
	isolated map[int][]*box
	closing  sync.Once
	closed   error
}

// servers returns all servers but those of an ensemble and MySQL.
func (e *Environment) servers() []*server {
	all := slices.Concat(e.stores, e.sentinels)
	if e.tokens != nil {
		all = append(all, e.tokens)
	}
	return all
}

// machine is a server that keeps locks, as most faults see it.
type machine interface {
	pause(ctx context.Context) error
	resume(ctx context.Context) error
	stop(ctx context.Context, lose bool) error
	start(ctx context.Context) error
	jump(ctx context.Context, by time.Duration) error
	tamper(ctx context.Context, how faults.Tampering, nth int) error
}

// farServer is a server that keeps locks, or tokens, as the end of links.
type farServer interface {
	clients.Server
	// alive returns an error unless the server lives, or was stopped by a fault.
	alive(ctx context.Context) error
}

// fakes reports whether the schedule moves a server's clock.
func (e *Environment) fakes(server string) bool {
	return slices.ContainsFunc(e.Cfg.Schedule, func(in faults.Injection) bool {
		f, ok := faults.Find(in.Fault)
		return ok && f.Need == faults.NeedClock && slices.Contains(in.On, server)
	})
}

// Alive returns an error unless all servers that no fault stopped still live, in their
// original processes. It also works in an interrupted run.
func (e *Environment) Alive() error {
	ctx := context.WithoutCancel(e.Ctx)
	err := clients.Together(e.far, func(f farServer) error { return f.alive(ctx) })
	e.sound = err == nil
	return err
}

// Observes returns either all properties or none. The entries of the lock of a user's
// worker are unknown, so it returns none for that, unless the worker declares them. A
// user's lock in Go may call its entries like the lock.
func (e *Environment) Observes() []string {
	if e.ensemble != nil && !e.ensemble.nodes.observes() {
		return nil
	}
	if e.mysql != nil && !e.mysql.rows.observes() {
		return nil
	}
	for _, s := range e.stores {
		if !s.ledger.observes() {
			return nil
		}
	}
	if len(e.Cfg.Worker) > 0 && !e.declared || e.Unnamed() {
		return nil
	}
	return []string{"ownership", "answers"}
}

// Close ends all processes and removes everything that the environment made. It may be
// called more than once.
func (e *Environment) Close() error {
	e.closing.Do(func() { e.closed = e.remove() })
	return e.closed
}

func (e *Environment) remove() error {
	if e.engine != nil && (!e.sound || e.Ctx.Err() != nil) {
		e.engine.pool = nil // a server may be in any state, or somebody waits for the end
	}
	e.Interrupt()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Ctx), removeLimit)
	defer cancel()
	for _, s := range e.servers() {
		if s.gate.wasPaused(time.Now()) {
			s.silence() // tasks that wait for it would wait forever
		}
	}
	errs := []error{e.Clients.Close()}
	errs = append(errs, clients.Together(e.servers(), func(s *server) error { return s.remove(ctx) }))
	if e.ensemble != nil {
		errs = append(errs, e.ensemble.remove(ctx))
	}
	if e.mysql != nil {
		errs = append(errs, e.mysql.remove(ctx))
	}
	if e.engine != nil {
		errs = append(errs, e.engine.close())
	}
	return errors.Join(errs...)
}

var _ env.Environment = (*Environment)(nil)
