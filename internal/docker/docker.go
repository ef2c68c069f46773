// Package docker is the environment with real servers in containers, and real clients
// in their own processes.
//
// A client is a process that speaks the worker protocol (package worker). A pause is
// SIGSTOP, a crash SIGKILL; harness/inject.go says when. The client reaches each server through a link of ours, a
// TCP proxy. Links apply partitions, delays and lost replies, assign each request to its
// operation, and replace the addresses that Sentinels announce by those of links. Each
// server reports what it did with the entries of locks (feed). A reply reaches its client only after that report, so that in the history every cause
// precedes its effect. If the reports fail, the run goes on, and Observes claims
// nothing. Replicas report nothing until one is the master (node). The leader reports
// for the members of an ensemble (learner), and MySQL's triggers record its changes
// (audit).
//
// The files build on each other. From the ground up: engine, container and box with their
// scripts; disturb, conn and link; view with what each kind of server reports (control,
// feed and ledger; learner and nodes; audit and rows); the servers (server, ensemble,
// primary); run, program and client; environment with its faults; layouts, which starts
// the servers, and this file.
//
// Pausing needs Linux. Everything that a run makes carries the name of its process
// (owner), so that Clean removes only the leftovers of ended runs.
package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Opener returns a function that makes environments with New.
func Opener(ctx context.Context, opts Options) func(env.Config, env.Observer) (env.Environment, error) {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) { return New(ctx, cfg, o, opts) }
}

// New makes the environment, after it has removed the leftovers of ended runs. It
// returns when the servers answer and the clients are ready. ctx bounds the whole run:
// when it ends, all clients are dead and Run returns its error.
func New(ctx context.Context, cfg env.Config, o env.Observer, opts Options) (*Environment, error) {
	e := newEnvironment(ctx, cfg, o, opts)
	if err := e.build(opts); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// newEnvironment returns an empty environment.
func newEnvironment(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *Environment {
	return &Environment{
		run: newRun(ctx, cfg, o, opts), layout: catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options),
		machines: map[string]machine{}, isolated: map[int][]*box{},
	}
}

// build makes everything. If it fails, Close removes the parts that exist.
func (e *Environment) build(opts Options) (err error) {
	if err := supported(e.cfg.Server); err != nil {
		return err
	}
	if e.engine, err = open(e.ctx); err != nil {
		return err
	}
	removed, err := e.engine.clean(e.ctx)
	if err != nil {
		e.log.Printf("clean up: %v", err)
	}
	if len(removed) > 0 {
		e.log.Printf("removed what an earlier run left: %s", strings.Join(removed, ", "))
	}
	if err := e.newServers(); err != nil {
		return err
	}
	command, err := workerCommand(e.cfg, opts)
	if err != nil {
		return err
	}
	return e.newClients(command, e.engine.self)
}

// workerCommand returns the command of a worker.
func workerCommand(cfg env.Config, opts Options) ([]string, error) {
	switch {
	case len(cfg.Worker) > 0:
		return cfg.Worker, nil
	case len(opts.Worker) > 0:
		return opts.Worker, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("docker: find the program that starts workers: %w", err)
	}
	return []string{self, "worker"}, nil
}

func (e *Environment) newClients(command []string, self owner) error {
	for _, name := range e.cfg.Clients {
		if mates := e.cfg.Lock.Mates(e.cfg.Clients, name); mates[0] == name {
			e.programs = append(e.programs, &program{run: e.run})
		}
		g := e.programs[len(e.programs)-1]
		g.clients = append(g.clients, &client{
			program: g, name: name, asked: map[int64]openOperation{}, extends: map[int]bool{}, news: news{grants: map[string][]int{}},
			runs: runs{visits: map[int64]*visit{}, inside: map[int]entrance{}},
		})
	}
	for _, g := range e.programs {
		if err := g.connect(e.far); err != nil {
			return err
		}
		if len(e.sentinels) > 0 {
			g.replaceAnnounced(slices.Concat(e.stores, e.sentinels))
		}
		if err := g.launch(command, self); err != nil {
			return err
		}
	}
	err := together(e.programs, func(g *program) error { return g.init(e.targets(g.links), e.kind()) })
	if wrong, ok := errors.AsType[*env.ProtocolError](err); ok {
		return wrong // the others fail alike
	}
	if err != nil || len(e.cfg.Worker) == 0 {
		return err
	}
	return e.declare(e.programs[0].entries) // the same command gives the same entries
}

// targets returns the addresses of the servers for a worker.
func (e *Environment) targets(links []*link) map[string][]string {
	t := map[string][]string{}
	for _, l := range links {
		kind := worker.TargetZooKeeper
		if l.far == farServer(e.mysql) {
			kind = worker.TargetMySQL
		} else if s, ok := l.far.(*server); ok {
			switch kind = worker.TargetRedis; {
			case s == e.tokens:
				kind = worker.TargetTokens
			case slices.Contains(e.sentinels, s):
				kind = worker.TargetSentinels
			}
		}
		t[kind] = append(t[kind], l.addr())
	}
	if len(e.sentinels) > 0 {
		t[worker.TargetMasters] = e.layout.Masters()
	}
	return t
}
