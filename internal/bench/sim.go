package bench

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// InSim measures in virtual time: equal loads have equal figures.
func InSim(ctx context.Context, l Load) (Figures, error) {
	m, err := inSim(ctx, l)
	return m.figures(err)
}

func inSim(ctx context.Context, l Load) (m *measurement, err error) {
	var sent atomic.Int64
	w := sim.New(env.Config{
		Lock: counting(l.Lock, &sent), Options: l.Options, Lease: l.Lease,
		Clients: clientNames(l.Clients), Names: []string{l.Name}, Seed: l.Seed,
	}, nobody{}, env.Decisions{Seed: l.Seed})
	defer func() { err = errors.Join(err, w.Close()) }()
	return measure(ctx, l, virtual{w}, &sent)
}

// all measures each of the loads, jobs at once (0: one for each core). After an error it
// starts no further load.
func all[L, F any](loads []L, jobs int, done func(int), measure func(L) (F, error)) ([]F, error) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	figures, errs := make([]F, len(loads)), make([]error, len(loads))
	var group sync.WaitGroup
	var mu sync.Mutex
	taken, ready := 0, 0
	for range jobs {
		group.Go(func() {
			for {
				mu.Lock()
				i := taken
				taken++
				mu.Unlock()
				if i >= len(loads) {
					return
				}
				figures[i], errs[i] = measure(loads[i])
				mu.Lock()
				if errs[i] != nil {
					taken = len(loads)
				}
				ready++
				if done != nil {
					done(ready)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return figures, errors.Join(errs...)
}

// virtual is a simulated world as an environment.
type virtual struct{ *sim.World }

func (v virtual) client(name string) client { return v.Client(name) }

// An observer that ignores everything.
type nobody struct{}

func (nobody) Point(string, env.Op, faults.Point) {}
func (nobody) Server(history.Entry)               {}
func (nobody) Resource(env.Access) (a env.Answer) { return a }
func (nobody) Report(history.Entry)               {}
func (nobody) Enter(string, env.Grant) (o env.Op) { return o }
func (nobody) Section(string, env.Op)             {}
