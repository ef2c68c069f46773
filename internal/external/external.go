// Package external is the environment with servers that the user runs. lockcheck starts
// the clients, and the links between them and the servers (package clients), so all faults
// of clients and links are possible. It never acts on the servers themselves, and observes
// nothing there.
//
// Everything that a run writes is recognisable: the names of its locks begin with a prefix,
// and in ZooKeeper everything is below a node of the run. At its end, also after a failure
// or an interrupt, the run removes what has the prefix, and nothing else (leftovers).
package external

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Mark begins the prefix of every run.
const Mark = "lockcheck-run-"

// Opener returns a function that makes environments with New.
func Opener(ctx context.Context, s *endpoints.Servers, opts clients.Options) func(env.Config, env.Observer) (env.Environment, error) {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) { return New(ctx, s, cfg, o, opts) }
}

// Environment is the environment of one run.
type Environment struct {
	*clients.Clients
	access  access
	store   store // nil: not opened
	prefix  string
	servers []*server
	closing sync.Once
	closed  error
}

// New makes the environment. It returns when the servers have answered and the clients are
// ready. ctx bounds the whole run.
func New(ctx context.Context, s *endpoints.Servers, cfg env.Config, o env.Observer, opts clients.Options) (*Environment, error) {
	e := &Environment{Clients: clients.New(ctx, cfg, o, opts), prefix: newPrefix()}
	if err := e.build(s, opts); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// newPrefix returns the prefix of a run, which no other run has.
func newPrefix() string {
	id := make([]byte, 6)
	rand.Read(id) // never fails
	return Mark + hex.EncodeToString(id) + "-"
}

// build makes everything. If it fails, Close removes the parts that exist.
func (e *Environment) build(s *endpoints.Servers, opts clients.Options) (err error) {
	if e.access, e.store, err = open(s); err != nil {
		return err
	}
	found, err := e.store.find(e.Ctx)
	if err != nil {
		return err
	}
	e.servers = found
	layout := catalogue.NewLayout(&e.Cfg.Lock, e.Cfg.Server, e.Cfg.Options)
	for _, name := range layout.Masters() {
		if !slices.ContainsFunc(e.servers, func(s *server) bool { return s.name == name }) {
			return fmt.Errorf("the run needs the server %s, and the addresses are of other servers, or of fewer", name)
		}
	}
	if err := e.store.prepare(e.Ctx, e.prefix); err != nil {
		return err
	}
	setup := clients.Setup{
		Env: s.Environ(e.access.secret), Kind: worker.TargetOf(s.Store()), Prefix: e.prefix,
		Targets: e.targets, Announced: map[string]clients.Server{},
	}
	if setup.Command, err = clients.Command(e.Cfg, opts); err != nil {
		return err
	}
	for _, far := range e.servers {
		far.root = rootOf(e.prefix)
		setup.Servers = append(setup.Servers, far)
		for _, at := range far.announced {
			setup.Announced[at] = far
		}
	}
	entries, err := e.Launch(setup)
	if err != nil {
		return err
	}
	if err := e.store.declare(e.Ctx, entries); err != nil || s.Store() != endpoints.MySQL {
		return err
	}
	left, err := e.store.others(e.Ctx)
	if len(left) > 0 {
		e.Log.Printf("rows of other runs, which may still go on: %s", words(left))
	}
	return err
}

// targets returns the targets of a worker, whose links have these addresses.
func (e *Environment) targets(addrs []string) map[string][]string {
	t := map[string][]string{}
	for i, s := range e.servers {
		if s.kind != "" {
			t[s.kind] = append(t[s.kind], addrs[i])
		}
	}
	if name := e.access.Master(); name != "" {
		t[worker.TargetMasters] = []string{name}
	}
	return t
}

// Observes returns nothing: nobody observes the servers.
func (e *Environment) Observes() []string { return nil }

// removeLimit is how long the removal of a run's keys may take.
const removeLimit = 10 * time.Second

// Close ends the clients, removes what the run has left in the stores, and reports what it
// may have left without its prefix. It may be called more than once.
func (e *Environment) Close() error {
	e.closing.Do(func() {
		e.closed = e.Clients.Close()
		if e.servers == nil {
			return // nothing was written
		}
		defer e.store.close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Ctx), removeLimit)
		defer cancel()
		_, err := e.store.remove(ctx, e.prefix)
		if err != nil {
			err = fmt.Errorf("remove what contains %s: %w", e.prefix, err)
		}
		left, wrong := e.store.strange(ctx)
		if len(left) > 0 {
			e.Log.Printf("new during the run and without its prefix, so not removed: %s", words(left))
		}
		e.closed = errors.Join(e.closed, err, wrong)
	})
	return e.closed
}

// The faults of servers, which lockcheck never strikes here: faults.Offers leaves them out.

var errForeign = errors.New("the servers are not lockcheck's")

func (e *Environment) Stop(string, bool) error     { return errForeign }
func (e *Environment) Start(string) error          { return errForeign }
func (e *Environment) Evict(string) error          { return errForeign }
func (e *Environment) Relieve(string) error        { return errForeign }
func (e *Environment) ExpireSession(string) error  { return errForeign }
func (e *Environment) Isolate(int, []string) error { return errForeign }

var _ env.Environment = (*Environment)(nil)

// Look returns what runs have left on the servers, or keep there while they go on. It
// returns an error if the servers cannot be used.
func Look(ctx context.Context, s *endpoints.Servers) (list []string, err error) {
	return visit(ctx, s, store.others)
}

// Clean removes what runs have left on the servers, and returns what it has removed. It also
// removes what runs need that still go on.
func Clean(ctx context.Context, s *endpoints.Servers) (removed []string, err error) {
	return visit(ctx, s, func(x store, ctx context.Context) ([]string, error) { return x.remove(ctx, Mark) })
}

// visit calls do with the servers.
func visit(ctx context.Context, s *endpoints.Servers, do func(store, context.Context) ([]string, error)) ([]string, error) {
	_, x, err := open(s)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if _, err := x.find(ctx); err != nil {
		return nil, err
	}
	return do(x, ctx)
}
