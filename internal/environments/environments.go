// Package environments has the environments: the simulator, with virtual time, and real
// servers, on Docker or the user's. It is the only room below the command that knows all.
package environments

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/external"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// Opener opens environments for one command.
type Opener struct {
	Out  *outdir.Dir
	Log  io.Writer // what real servers and workers report
	Say  func(format string, args ...any)
	Real func() // called before real servers are started
	// Worker and Env are those of docker.Options, for a user's lock in Go.
	Worker, Env []string
	Yours       *endpoints.Servers // of the environment external
	Pool        *Pool              // of containers that serve several runs; nil: each run makes its own
}

// Pool keeps containers between runs. Its owner closes it after the last one.
type Pool = docker.Pool

// Open opens the environment with a name. lease is that of its locks; 0 means the default.
// If an error comes from the environment, no plan can be carried out, but the returned
// runner still describes it.
func (o *Opener) Open(ctx context.Context, name string, lease time.Duration) (*batch.Runner, error) {
	r := o.Unopened(name, lease)
	r.Ctx = ctx
	if r.Simulator() != nil {
		return r, nil
	}
	o.Real()
	err := docker.Available
	if name == "external" {
		err = o.look
	}
	if err := err(ctx); err != nil {
		return r, unusable(err)
	}
	return r, nil
}

// unusable returns an error of servers with its exit code.
func unusable(err error) error {
	if _, foreign := errors.AsType[endpoints.Foreign](err); foreign {
		return exit.Errorf(exit.Usage, "%w", err)
	}
	return exit.Errorf(exit.Unavailable, "%w", err)
}

// look returns an error if the user's servers cannot be used. It prints what other runs have
// there.
func (o *Opener) look(ctx context.Context) error {
	left, err := external.Look(ctx, o.Yours)
	if len(left) > 0 {
		o.Say("lockcheck: the servers have %s of other runs, such as %s. If none of them goes on, lockcheck clean with these addresses removes that\n", names.Count(len(left), "entry"), left[0])
	}
	return err
}

// Unopened returns a runner that carries out nothing, of an environment that may not be
// there.
func (o *Opener) Unopened(name string, lease time.Duration) *batch.Runner {
	return &batch.Runner{Environment: o.named(name, lease), Out: o.Out, Say: o.Say}
}

// Describe returns what is known of the environment with a name before it is opened.
func Describe(name string) batch.Description { return new(Opener).named(name, 0) }

func (o *Opener) named(name string, lease time.Duration) batch.Environment {
	if name != "sim" {
		e := &realServers{lease: lease, out: o.Out, pool: o.Pool, options: clients.Options{Log: o.Log, Worker: o.Worker, Env: o.Env}}
		if name == "external" {
			e.yours = cmp.Or(o.Yours, new(endpoints.Servers))
		}
		return e
	}
	return &simulator{lease: cmp.Or(lease, 10*time.Second), out: o.Out}
}

// simulator is the environment with virtual time.
type simulator struct {
	lease time.Duration
	out   *outdir.Dir
}

func (e *simulator) Name() string { return "sim" }

func (e *simulator) Lease(catalogue.Layout) time.Duration { return e.lease }

func (e *simulator) Strikes(lock *catalogue.Lock, f faults.Fault) error {
	return lock.Strikes(f, e.Name())
}

func (e *simulator) Surroundings() map[string]string { return nil }

func (e *simulator) Flags() []string { return nil }

func (e *simulator) Simulator() env.Simulator { return sim.Simulator }

func (e *simulator) Execute(_ context.Context, plan *harness.Plan, _ string) (*harness.Judged, harness.Replay, error) {
	return harness.Simulate(sim.Simulator, plan)
}

func (e *simulator) Each(_ *batch.Runner, plans []*harness.Plan, _ []string) ([]*harness.Judged, error) {
	judged := make([]*harness.Judged, len(plans))
	for i, plan := range plans {
		j, _, err := harness.Simulate(sim.Simulator, plan)
		if err != nil {
			return nil, err
		}
		judged[i] = j
	}
	return judged, nil
}

func (e *simulator) Batch(r *batch.Runner, s *explore.Settings, progress func(int)) (*explore.Result, error) {
	return explore.Random(r.Ctx, sim.Simulator, s, progress)
}

func (e *simulator) Again(_ *batch.Runner, s *explore.Settings, run int) (*harness.Judged, error) {
	j, _, err := harness.Simulate(sim.Simulator, s.Plan(run))
	return j, err
}

func (e *simulator) Save(name string, j *harness.Judged) (string, error) { return e.out.Save(name, j) }

// Clean removes what runs that were killed have left on Docker, or on the user's servers if
// there are any. It returns what it has removed.
func Clean(ctx context.Context, yours *endpoints.Servers) (removed []string, err error) {
	if yours.Given() == nil {
		removed, err = docker.Clean(ctx)
	} else {
		if err := yours.Check(); err != nil {
			return nil, exit.Errorf(exit.Usage, "%w", err)
		}
		if yours.Store() == endpoints.MySQL {
			return nil, exit.Errorf(exit.Usage, "mysql: only a worker declares in which table its locks are. The next run with it names the rows that are left")
		}
		removed, err = external.Clean(ctx, yours)
	}
	if err != nil {
		err = unusable(err)
	}
	return removed, err
}
