// Package docker is the environment with real servers in containers, and real clients
// in their own processes.
//
// A client is a process that speaks the worker protocol (package worker). A pause is
// SIGSTOP, a crash SIGKILL. The client reaches each server through a link of ours, a
// TCP proxy. Links apply partitions, delays and lost replies, and assign each request
// to its operation. Each server reports what it did with the entries of locks (feed). A
// reply reaches its client only after that report, so that in the history every cause
// precedes its effect. If the reports fail, the run goes on, and Observes claims
// nothing. Replicas report nothing until one is the master (node). The leader reports
// for the members of an ensemble (learner), and MySQL's triggers record its changes
// (audit).
//
// Pausing needs Linux. Everything that a run makes carries the name of its process
// (owner), so that Clean removes only the leftovers of ended runs.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Environment is the environment of one run.
type Environment struct {
	cfg      env.Config
	observer env.Observer
	schedule []faults.Injection
	ctx      context.Context // ends when the run is interrupted or closed
	cancel   context.CancelFunc
	log      *lockedWriter

	engine    *engine
	layout    catalogue.Layout
	stores    []*server // in the order of the layout
	sentinels []*server
	tokens    *server   // nil: none
	ensemble  *ensemble // instead of all these; nil: none
	mysql     *primary  // instead of the stores; nil: none
	programs  []*program
	disturb   *disturbances

	made   time.Time
	began  atomic.Bool
	start  time.Time // of the run
	tasks  sync.WaitGroup
	timers sync.WaitGroup

	mu      sync.Mutex
	over    bool     // Run has ended: nothing starts any more
	waiting []func() // tasks and calls that wait for Run
	stops   []*time.Timer
	random  map[string]*rand.Rand
	// isolated are the servers that are cut off from the others, by partition.
	isolated map[int][]*box
	closing  sync.Once
	closed   error
	broken   atomic.Pointer[error] // the first *env.ProtocolError
}

// protocolError returns the error of a worker that broke the protocol; nil: none did.
func (p *Environment) protocolError() error {
	if err := p.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Opener returns a function that makes environments with New.
func Opener(ctx context.Context, opts Options) func(env.Config, env.Observer) (env.Environment, error) {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) { return New(ctx, cfg, o, opts) }
}

// New makes the environment, after it has removed the leftovers of ended runs. It
// returns when the servers answer and the clients are ready. ctx bounds the whole run:
// when it ends, all clients are dead and Run returns its error.
func New(ctx context.Context, cfg env.Config, o env.Observer, opts Options) (*Environment, error) {
	p := newEnvironment(ctx, cfg, o, opts)
	if err := p.build(opts); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// newEnvironment returns an empty environment.
func newEnvironment(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *Environment {
	p := &Environment{
		cfg: cfg, observer: o, schedule: cfg.Schedule,
		made:     time.Now(),
		layout:   catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options),
		log:      &lockedWriter{w: opts.Log},
		disturb:  newDisturbances(),
		random:   map[string]*rand.Rand{},
		isolated: map[int][]*box{},
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// build makes everything. If it fails, Close removes the parts that exist.
func (p *Environment) build(opts Options) error {
	if err := supported(p.cfg.Server); err != nil {
		return err
	}
	self, err := thisOwner()
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	if p.engine, err = open(p.ctx); err != nil {
		return err
	}
	removed, err := p.engine.clean(p.ctx, self)
	if err != nil {
		fmt.Fprintf(p.log, "clean up: %v\n", err)
	}
	if len(removed) > 0 {
		fmt.Fprintf(p.log, "removed what an earlier run left: %s\n", strings.Join(removed, ", "))
	}
	if err := p.newServers(self); err != nil {
		return err
	}
	command, err := workerCommand(p.cfg, opts)
	if err != nil {
		return err
	}
	return p.newClients(command, self)
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

func (p *Environment) newClients(command []string, self owner) error {
	for _, name := range p.cfg.Clients {
		if mates := p.cfg.Lock.Mates(p.cfg.Clients, name); mates[0] == name {
			p.programs = append(p.programs, &program{place: p})
		}
		g := p.programs[len(p.programs)-1]
		g.clients = append(g.clients, &client{
			program: g, name: name, asked: map[int64]openOperation{}, news: news{grants: map[string][]int{}},
			runs: runs{visits: map[int64]*visit{}, inside: map[int]entrance{}},
		})
	}
	for _, g := range p.programs {
		if err := g.connect(); err != nil {
			return err
		}
		if err := g.launch(command, self); err != nil {
			return err
		}
	}
	errs := make([]error, len(p.programs))
	var ready sync.WaitGroup
	for i, g := range p.programs {
		ready.Go(func() { errs[i] = g.init() })
	}
	ready.Wait()
	for _, err := range errs {
		if wrong := (*env.ProtocolError)(nil); errors.As(err, &wrong) {
			return wrong // the others fail alike
		}
	}
	return errors.Join(errs...)
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

// Go starts a task when Run is called.
func (p *Environment) Go(task func()) {
	p.tasks.Add(1)
	p.begin(func() {
		go func() {
			defer p.tasks.Done()
			task()
		}()
	})
}

// After calls f when d has passed, unless the run has ended.
func (p *Environment) After(d time.Duration, f func()) {
	p.begin(func() {
		p.stops = append(p.stops, time.AfterFunc(d, func() {
			p.mu.Lock()
			if p.over {
				p.mu.Unlock()
				return
			}
			p.timers.Add(1)
			p.mu.Unlock()
			defer p.timers.Done()
			f()
		}))
	})
}

// begin calls f, which must be quick, now or when the run begins.
func (p *Environment) begin(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.Load() {
		f()
	} else {
		p.waiting = append(p.waiting, f)
	}
}

// Run returns when all tasks have ended. It returns an error if ctx ended, or the
// *env.ProtocolError that ended the run.
func (p *Environment) Run() error {
	p.mu.Lock()
	p.start = time.Now()
	p.began.Store(true)
	for _, f := range p.waiting {
		f()
	}
	p.waiting = nil
	p.mu.Unlock()

	p.tasks.Wait()
	p.mu.Lock()
	p.over = true
	for _, t := range p.stops {
		t.Stop()
	}
	p.mu.Unlock()
	p.timers.Wait()
	return cmp.Or(p.protocolError(), p.ctx.Err())
}

// Now returns the time since the call of Run; 0 before it.
func (p *Environment) Now() time.Duration {
	if !p.began.Load() {
		return 0
	}
	return time.Since(p.start)
}

// Sleep waits for d, or until the run is interrupted.
func (p *Environment) Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
}

// Rand draws from the seed. Another run draws the same values, but at other times.
func (p *Environment) Rand(who, what string, n int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := who + "\x00" + what
	r := p.random[name]
	if r == nil {
		h := fnv.New64a()
		io.WriteString(h, name)
		r = rand.New(rand.NewPCG(p.cfg.Seed, h.Sum64()))
		p.random[name] = r
	}
	return r.Int64N(n)
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
