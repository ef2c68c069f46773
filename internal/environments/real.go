package environments

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/external"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// realServers is the environment with real servers: in containers, or the user's.
type realServers struct {
	batch.RealTime
	lease   time.Duration // 0: that of the layout
	out     *outdir.Dir
	options clients.Options
	pool    *Pool
	yours   *endpoints.Servers // nil: containers
}

func (e *realServers) Name() string {
	if e.yours != nil {
		return "external"
	}
	return "docker"
}

func (e *realServers) Lease(l catalogue.Layout) time.Duration {
	return cmp.Or(e.lease, docker.LeaseOf(l, len(e.options.Worker) > 0))
}

func (e *realServers) Strikes(lock *catalogue.Lock, f faults.Fault) error {
	if err := lock.Strikes(f, e.Name()); err != nil || lock.Store != catalogue.StoreMySQL || e.yours != nil {
		return err
	}
	return docker.MySQLLacks(f)
}

// Surroundings returns the images of servers, and the base of their clients. Addresses stay
// with the user.
func (e *realServers) Surroundings() map[string]string {
	if e.yours != nil {
		return map[string]string{"os": runtime.GOOS}
	}
	of := map[string]string{"os": runtime.GOOS, docker.BaseEnv: cmp.Or(os.Getenv(docker.BaseEnv), docker.DefaultBase)}
	if image := os.Getenv(docker.MySQLEnv); image != "" {
		of[docker.MySQLEnv] = image
	}
	return of
}

func (e *realServers) Flags() []string { return e.yours.Flags() }

// Save returns the directory of a run: its files were written when it ended.
func (e *realServers) Save(name string, _ *harness.Judged) (string, error) {
	return e.out.Run(name), nil
}

// Execute carries out one plan and keeps its files. It writes the history to disk line
// by line during the run, so that no failure can lose it.
func (e *realServers) Execute(ctx context.Context, plan *harness.Plan, name string) (j *harness.Judged, fit harness.Replay, err error) {
	dir := e.out.Run(name)
	f, err := rundir.Begin(dir, plan)
	if err != nil {
		return nil, fit, outdir.Unsaved(err)
	}
	var lost error // the error of writing the history
	begin := func(h history.Header) func(*history.Entry) {
		w, err := history.NewWriter(f, h)
		lost = err
		return func(e *history.Entry) {
			if lost == nil {
				lost = w.Append(*e)
			}
		}
	}
	open := docker.Opener(ctx, e.options, e.pool)
	if e.yours != nil {
		open = external.Opener(ctx, e.yours, e.options)
	}
	j, err = harness.Live(plan, open, begin)
	if lost = cmp.Or(lost, f.Close()); lost != nil {
		lost = outdir.Unwritable(lost)
	}
	if j != nil { // of a run that was cut short, the recorded part
		_, unsaved := e.out.Save(name, j)
		lost = cmp.Or(lost, unsaved)
	} else { // the run never began
		err = cmp.Or(err, outdir.Unsaved(rundir.Remove(dir)))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return j, fit, ctx.Err()
	case batch.Misspoken(err) && plan.Worker == nil:
		return j, fit, exit.Errorf(exit.Usage, "%w", err)
	case batch.Misspoken(err):
		return j, fit, exit.Errorf(exit.Usage, "%s: %w", strings.Join(plan.Worker, " "), err)
	case err != nil:
		return j, fit, exit.Errorf(exit.Unavailable, "%w", err)
	case lost != nil:
		return j, fit, lost
	}
	return j, fit, nil
}
