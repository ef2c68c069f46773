// Package docker is the environment with real servers in containers, and real clients
// in their own processes (package clients).
//
// Each server reports what it did with the entries of locks (feed). A reply reaches its
// client only after that report, so that in the history every cause precedes its effect. If
// the reports fail, the run goes on, and Observes claims nothing. Replicas report nothing
// until one is the master (node). The leader reports for the members of an ensemble
// (learner), and MySQL's triggers record its changes (audit).
//
// The files build on each other. From the ground up: engine, container and box with their
// scripts; view with what each kind of server reports (control, feed and ledger; learner
// and nodes; audit and rows); the servers (server, ensemble, primary); environment with its
// faults; layouts, which starts the servers, and this file.
//
// Everything that a run makes carries the name of its process (owner), so that Clean removes
// only the leftovers of ended runs.
package docker

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Opener returns a function that makes environments as New does, with containers of a pool.
func Opener(ctx context.Context, opts Options, pool *Pool) func(env.Config, env.Observer) (env.Environment, error) {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) {
		return newWith(ctx, pool, cfg, o, opts)
	}
}

// New makes the environment, after it has removed the leftovers of ended runs. It
// returns when the servers answer and the clients are ready. ctx bounds the whole run:
// when it ends, all clients are dead and Run returns its error.
func New(ctx context.Context, cfg env.Config, o env.Observer, opts Options) (*Environment, error) {
	return newWith(ctx, nil, cfg, o, opts)
}

func newWith(ctx context.Context, pool *Pool, cfg env.Config, o env.Observer, opts Options) (*Environment, error) {
	e := newEnvironment(ctx, cfg, o, opts)
	if err := e.build(opts, pool); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// newEnvironment returns an empty environment.
func newEnvironment(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *Environment {
	return &Environment{
		Clients: clients.New(ctx, cfg, o, opts), layout: catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options),
		machines: map[string]machine{}, isolated: map[int][]*box{},
	}
}

// build makes everything. If it fails, Close removes the parts that exist.
func (e *Environment) build(opts Options, pool *Pool) (err error) {
	if err := supported(e.Cfg.Server); err != nil {
		return err
	}
	if e.engine, err = open(e.Ctx); err != nil {
		return err
	}
	e.engine.pool = pool
	removed, err := e.engine.clean(e.Ctx)
	if err != nil {
		e.Log.Printf("clean up: %v", err)
	}
	if len(removed) > 0 {
		e.Log.Printf("removed what an earlier run left: %s", strings.Join(removed, ", "))
	}
	if err := e.newServers(); err != nil {
		return err
	}
	command, err := clients.Command(e.Cfg, opts)
	if err != nil {
		return err
	}
	return e.newClients(command, e.engine.self)
}

func (e *Environment) newClients(command []string, self owner) error {
	s := clients.Setup{
		Command: command, Env: []string{OwnerEnv + "=" + self.String()},
		Kind: e.kind(), Targets: e.targets, Announced: map[string]clients.Server{},
	}
	for _, f := range e.far {
		s.Servers = append(s.Servers, f)
	}
	if len(e.sentinels) > 0 {
		for _, r := range slices.Concat(e.stores, e.sentinels) {
			s.Announced[net.JoinHostPort(r.Host, port)] = r
		}
	}
	entries, err := e.Launch(s)
	if err != nil {
		return err
	}
	return cmp.Or(e.declare(entries), e.seesEntries())
}

// targets returns the targets of a worker, whose links have these addresses.
func (e *Environment) targets(addrs []string) map[string][]string {
	t := map[string][]string{}
	for i, f := range e.far {
		kind := e.kind()
		if s, ok := f.(*server); ok {
			switch kind = worker.TargetRedis; {
			case s == e.tokens:
				kind = worker.TargetTokens
			case slices.Contains(e.sentinels, s):
				kind = worker.TargetSentinels
			}
		}
		t[kind] = append(t[kind], addrs[i])
	}
	if len(e.sentinels) > 0 {
		t[worker.TargetMasters] = e.layout.Masters()
	}
	return t
}
