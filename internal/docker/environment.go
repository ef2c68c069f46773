package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Environment is the environment of one run: its servers, its clients, and the links
// between them.
type Environment struct {
	*run
	engine    *engine
	layout    catalogue.Layout
	stores    []*server // in the order of the layout
	sentinels []*server
	tokens    *server   // nil: none
	ensemble  *ensemble // instead of all these; nil: none
	mysql     *primary  // instead of the stores; nil: none
	programs  []*program

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

// farServers returns all servers as the ends of links.
func (e *Environment) farServers() (all []farServer) {
	for _, s := range e.servers() {
		all = append(all, s)
	}
	if e.ensemble != nil {
		for _, m := range e.ensemble.members {
			all = append(all, m)
		}
	}
	if e.mysql != nil {
		all = append(all, e.mysql)
	}
	return all
}

// store returns the named Redis server that keeps locks.
func (e *Environment) store(name string) (*server, error) {
	i := slices.IndexFunc(e.stores, func(s *server) bool { return s.name == name })
	if i < 0 {
		return nil, fmt.Errorf("docker: no Redis server %q", name)
	}
	return e.stores[i], nil
}

// machine is a server that keeps locks, as most faults see it.
type machine interface {
	pause(ctx context.Context) error
	resume(ctx context.Context) error
	stop(ctx context.Context, lose bool) error
	start(ctx context.Context) error
	jump(ctx context.Context, by time.Duration) error
}

// machine returns the named server that keeps locks.
func (e *Environment) machine(name string) (machine, error) {
	if e.ensemble != nil {
		for _, m := range e.ensemble.members {
			if m.name == name {
				return m, nil
			}
		}
	}
	if e.mysql != nil {
		for _, s := range e.mysql.servers {
			if s.name == name {
				return s, nil
			}
		}
	}
	for _, s := range e.stores {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("docker: no server %q", name)
}

func (e *Environment) find(name string) (*client, error) {
	for _, g := range e.programs {
		for _, c := range g.clients {
			if c.name == name {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("docker: no client %q", name)
}

// Client returns the named client.
func (e *Environment) Client(name string) env.Client {
	c, err := e.find(name)
	if err != nil {
		return nobody{}
	}
	if c.can(worker.FeatureRun) {
		return runner{c}
	}
	return c
}

// Alive returns an error unless all servers that no fault stopped still live, in their
// original processes. It also works in an interrupted run.
func (e *Environment) Alive() error {
	ctx := context.WithoutCancel(e.ctx)
	return together(e.farServers(), func(f farServer) error { return f.alive(ctx) })
}

// Observes returns either all properties or none. The keys of the lock of a user's
// worker are unknown, so it returns none for that.
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
	if len(e.cfg.Worker) > 0 {
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
	e.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), removeLimit)
	defer cancel()
	for _, s := range e.servers() {
		if s.gate.wasPaused(time.Now()) {
			s.silence() // tasks that wait for it would wait forever
		}
	}
	var errs []error
	for _, g := range e.programs {
		errs = append(errs, g.close())
	}
	errs = append(errs, together(e.servers(), func(s *server) error { return s.remove(ctx) }))
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
