package clients

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// run is one run, as its clients and servers know it: its settings, its observer, its
// tasks, and its clock.
type run struct {
	Cfg      env.Config
	Observer env.Observer
	Ctx      context.Context // ends when the run is interrupted or closed
	Log      *log.Logger
	cancel   context.CancelFunc
	disturb  *disturbances

	setup     Setup
	workerEnv []string
	own       *ownEntries // of a user's lock; else nil

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
	broken  atomic.Pointer[error] // the first *env.ProtocolError
}

func newRun(ctx context.Context, cfg env.Config, o env.Observer, opts Options) *run {
	r := &run{
		Cfg: cfg, Observer: o, Log: opts.Logger(), disturb: newDisturbances(),
		workerEnv: opts.Env, made: time.Now(), random: map[string]*rand.Rand{},
	}
	if cfg.Lock.Own {
		r.own = &ownEntries{Observer: o, granted: map[int64]bool{}}
		r.Observer = r.own
	}
	r.Ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// protocolError returns the error of a worker that broke the protocol; nil: none did.
func (r *run) protocolError() error {
	if err := r.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// breakOff ends the run because of a *env.ProtocolError.
func (r *run) breakOff(err error) {
	r.broken.CompareAndSwap(nil, &err)
	r.cancel()
}

// Go starts a task when Run is called.
func (r *run) Go(task func()) {
	r.tasks.Add(1)
	r.begin(func() {
		go func() {
			defer r.tasks.Done()
			task()
		}()
	})
}

// After calls f when d has passed, unless the run has ended.
func (r *run) After(d time.Duration, f func()) {
	r.begin(func() {
		r.stops = append(r.stops, time.AfterFunc(d, func() {
			r.mu.Lock()
			if r.over {
				r.mu.Unlock()
				return
			}
			r.timers.Add(1)
			r.mu.Unlock()
			defer r.timers.Done()
			f()
		}))
	})
}

// begin calls f, which must be quick, now or when the run begins.
func (r *run) begin(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.Load() {
		f()
	} else {
		r.waiting = append(r.waiting, f)
	}
}

// Run returns when all tasks have ended. It returns an error if ctx ended, or the
// *env.ProtocolError that ended the run.
func (r *run) Run() error {
	r.mu.Lock()
	r.start = time.Now()
	r.began.Store(true)
	for _, f := range r.waiting {
		f()
	}
	r.waiting = nil
	r.mu.Unlock()

	r.tasks.Wait()
	r.mu.Lock()
	r.over = true
	for _, t := range r.stops {
		t.Stop()
	}
	r.mu.Unlock()
	r.timers.Wait()
	return cmp.Or(r.protocolError(), r.Ctx.Err())
}

// Now returns the time since the call of Run; 0 before it.
func (r *run) Now() time.Duration {
	if !r.began.Load() {
		return 0
	}
	return time.Since(r.start)
}

// Sleep waits for d, or until the run is interrupted.
func (r *run) Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-r.Ctx.Done():
	}
}

// Rand draws from the seed. Another run draws the same values, but at other times.
func (r *run) Rand(who, what string, n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := who + "\x00" + what
	draws := r.random[name]
	if draws == nil {
		h := fnv.New64a()
		io.WriteString(h, name)
		draws = rand.New(rand.NewPCG(r.Cfg.Seed, h.Sum64()))
		r.random[name] = draws
	}
	return draws.Int64N(n)
}
