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
func (p *Environment) servers() []*server {
	all := slices.Concat(p.stores, p.sentinels)
	if p.tokens != nil {
		all = append(all, p.tokens)
	}
	return all
}

// farServers returns all servers as the ends of links.
func (p *Environment) farServers() (all []farServer) {
	for _, s := range p.servers() {
		all = append(all, s)
	}
	if p.ensemble != nil {
		for _, m := range p.ensemble.members {
			all = append(all, m)
		}
	}
	if p.mysql != nil {
		all = append(all, p.mysql)
	}
	return all
}

// store returns the named Redis server that keeps locks.
func (p *Environment) store(name string) (*server, error) {
	i := slices.IndexFunc(p.stores, func(s *server) bool { return s.name == name })
	if i < 0 {
		return nil, fmt.Errorf("docker: no Redis server %q", name)
	}
	return p.stores[i], nil
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
func (p *Environment) machine(name string) (machine, error) {
	if p.ensemble != nil {
		for _, m := range p.ensemble.members {
			if m.name == name {
				return m, nil
			}
		}
	}
	if p.mysql != nil {
		for _, s := range p.mysql.servers {
			if s.name == name {
				return s, nil
			}
		}
	}
	for _, s := range p.stores {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("docker: no server %q", name)
}

func (p *Environment) find(name string) (*client, error) {
	for _, g := range p.programs {
		for _, c := range g.clients {
			if c.name == name {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("docker: no client %q", name)
}

// Client returns the named client.
func (p *Environment) Client(name string) env.Client {
	c, err := p.find(name)
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
func (p *Environment) Alive() error {
	ctx := context.WithoutCancel(p.ctx)
	return together(p.farServers(), func(f farServer) error { return f.alive(ctx) })
}

// Observes returns either all properties or none. The keys of the lock of a user's
// worker are unknown, so it returns none for that.
func (p *Environment) Observes() []string {
	if p.ensemble != nil && !p.ensemble.nodes.observes() {
		return nil
	}
	if p.mysql != nil && !p.mysql.rows.observes() {
		return nil
	}
	for _, s := range p.stores {
		if !s.ledger.observes() {
			return nil
		}
	}
	if len(p.cfg.Worker) > 0 {
		return nil
	}
	return []string{"ownership", "answers"}
}

// Close ends all processes and removes everything that the environment made. It may be
// called more than once.
func (p *Environment) Close() error {
	p.closing.Do(func() { p.closed = p.remove() })
	return p.closed
}

func (p *Environment) remove() error {
	p.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), removeLimit)
	defer cancel()
	for _, s := range p.servers() {
		if s.gate.wasPaused(time.Now()) {
			s.silence() // tasks that wait for it would wait forever
		}
	}
	var errs []error
	for _, g := range p.programs {
		errs = append(errs, g.close())
	}
	errs = append(errs, together(p.servers(), func(s *server) error { return s.remove(ctx) }))
	if p.ensemble != nil {
		errs = append(errs, p.ensemble.remove(ctx))
	}
	if p.mysql != nil {
		errs = append(errs, p.mysql.remove(ctx))
	}
	if p.engine != nil {
		errs = append(errs, p.engine.close())
	}
	return errors.Join(errs...)
}

var _ env.Environment = (*Environment)(nil)
