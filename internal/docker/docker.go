// Package docker is the place with real servers, in containers, and real
// clients, in processes of their own.
//
// A client is a process that speaks the worker protocol (package worker). A
// pause is SIGSTOP, a crash SIGKILL. It reaches each server through a link of
// ours, a TCP proxy, where partitions, delays and lost replies happen, and
// where it is noted which operation each request belongs to. Each server tells
// what it did with the entries of locks (feed). A reply reaches its client
// only after that has been told, so that in the history nothing stands before
// its cause; where it cannot be told the run goes on, and Observes no longer
// claims it. Replicas keep quiet until one is the master (node). For the members
// of an ensemble their leader speaks (learner), and a MySQL server has what its
// triggers write down (audit).
//
// Pausing needs Linux. Everything made carries the name of the process that
// made it (owner), so that Clean removes what the dead left and nothing else.
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

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// Options say what is not in a run's Config.
type Options struct {
	// Worker is the command that starts a worker of ours; nil: this program,
	// with the argument "worker". Config.Worker has precedence.
	Worker []string
	// Log gets what people may want to read: how an image is built, what was
	// cleaned up, what a worker that died had said. nil: nobody.
	Log io.Writer
}

// Place is where one run happens.
type Place struct {
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
	tokens    *server   // nil: there is none
	ensemble  *ensemble // instead of all these; nil: there is none
	mysql     *primary  // instead of the stores; nil: there is none
	programs  []*program
	disturb   *disturbances

	made   time.Time
	began  atomic.Bool
	start  time.Time // of the run
	tasks  sync.WaitGroup
	timers sync.WaitGroup

	mu      sync.Mutex
	over    bool     // Run has ended: nothing starts any more
	waiting []func() // tasks and calls that begin with Run
	stops   []*time.Timer
	random  map[string]*rand.Rand
	// isolated are the servers that are cut off from the others, by partition.
	isolated map[int][]*peer
	closing  sync.Once
	closed   error
	misspoke atomic.Pointer[error] // the first *env.ProtocolError
}

// misspoken is the error of a worker that does not keep to the protocol; nil: all do.
func (p *Place) misspoken() error {
	if err := p.misspoke.Load(); err != nil {
		return *err
	}
	return nil
}

// Opener returns what makes the environment of one run after another, with New.
func Opener(ctx context.Context, opts Options) func(env.Config, env.Observer) (env.Environment, error) {
	return func(cfg env.Config, o env.Observer) (env.Environment, error) { return New(ctx, cfg, o, opts) }
}

// New makes the place: first of all it removes what dead runs left. It returns
// when the servers answer and the clients are ready. ctx bounds the whole run:
// when it ends, clients are dead and Run returns its error.
func New(ctx context.Context, cfg env.Config, o env.Observer, opts Options) (*Place, error) {
	p := newPlace(ctx, cfg, o, opts)
	if err := p.build(opts); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// newPlace is one in which nothing is yet.
func newPlace(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *Place {
	p := &Place{
		cfg: cfg, observer: o, schedule: cfg.Schedule,
		made:     time.Now(),
		layout:   catalogue.NewLayout(&cfg.Lock, cfg.Server, cfg.Options),
		log:      &lockedWriter{w: opts.Log},
		disturb:  newDisturbances(),
		random:   map[string]*rand.Rand{},
		isolated: map[int][]*peer{},
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// build makes everything. What there is when it fails, Close removes.
func (p *Place) build(opts Options) error {
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

// workerCommand is the command of a worker.
func workerCommand(cfg env.Config, opts Options) ([]string, error) {
	switch {
	case len(cfg.Worker) > 0:
		return cfg.Worker, nil
	case len(opts.Worker) > 0:
		return opts.Worker, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("docker: which program to start workers from: %w", err)
	}
	return []string{self, "worker"}, nil
}

func (p *Place) newClients(command []string, self owner) error {
	for _, name := range p.cfg.Clients {
		if mates := p.cfg.Lock.Mates(p.cfg.Clients, name); mates[0] == name {
			p.programs = append(p.programs, &program{place: p})
		}
		g := p.programs[len(p.programs)-1]
		g.clients = append(g.clients, &client{
			program: g, name: name, asked: map[int64]running{}, news: news{grants: map[string][]int{}},
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
			return wrong // the others do the same
		}
	}
	return errors.Join(errs...)
}

// find returns the named client.
func (p *Place) find(name string) (*client, error) {
	for _, g := range p.programs {
		for _, c := range g.clients {
			if c.name == name {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("docker: no client %q", name)
}

// Client is the named client.
func (p *Place) Client(name string) env.Client {
	c, err := p.find(name)
	if err != nil {
		return nobody{}
	}
	if c.can(worker.FeatureRun) {
		return runner{c}
	}
	return c
}

// Observes says what is known of the servers: all, or nothing. Of a stranger's
// lock it is not known which keys are its own.
func (p *Place) Observes() []string {
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

// Go starts a task; it runs once Run is called.
func (p *Place) Go(task func()) {
	p.tasks.Add(1)
	p.begin(func() {
		go func() {
			defer p.tasks.Done()
			task()
		}()
	})
}

// After calls f at that time from now, unless the run has ended.
func (p *Place) After(d time.Duration, f func()) {
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
func (p *Place) begin(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.Load() {
		f()
	} else {
		p.waiting = append(p.waiting, f)
	}
}

// Run returns when all tasks have ended. The error is that ctx ended, or a
// *env.ProtocolError, which has ended the run.
func (p *Place) Run() error {
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
	return cmp.Or(p.misspoken(), p.ctx.Err())
}

// Now is the time since Run was called; before, 0.
func (p *Place) Now() time.Duration {
	if !p.began.Load() {
		return 0
	}
	return time.Since(p.start)
}

// Sleep waits for d, or until the run is interrupted.
func (p *Place) Sleep(d time.Duration) {
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

// Rand draws from the seed. What is drawn repeats in another run, when it is
// drawn does not.
func (p *Place) Rand(who, what string, n int64) int64 {
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

// Close ends what still runs and removes all that the place made. It may be
// called more than once.
func (p *Place) Close() error {
	p.closing.Do(func() { p.closed = p.remove() })
	return p.closed
}

// removeLimit is how long the engine may take to remove what was made.
const removeLimit = time.Minute

func (p *Place) remove() error {
	p.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), removeLimit)
	defer cancel()
	for _, s := range p.servers() {
		if s.gate.still(time.Now()) {
			s.silence() // or who waits for it waits on
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

// lockedWriter is a log that several goroutines write to. Nobody may listen.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return len(b), nil
	}
	return l.w.Write(b)
}

func (l *lockedWriter) printf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

var _ env.Environment = (*Place)(nil)
