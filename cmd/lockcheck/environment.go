package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// environmentFlags defines the flags that choose an environment.
func environmentFlags(cmd *cobra.Command, f *ask.Environment) {
	f.Given = cmd.Flags().Changed
	cmd.Flags().StringVar(&f.On, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers)")
	durationFlag(cmd.Flags(), &f.Lease, "lease", 0, "the lease `T`, 200ms to 10m (default 10s in sim; on docker 1s, 2s on several masters, 4s where servers have replicas)")
}

// openEnvironment makes the environment that the flags name. If an error comes from the
// environment, the returned runner still describes it.
func (a *app) openEnvironment(ctx context.Context, f ask.Environment) (*batch.Runner, error) {
	if err := ask.Choice("on", f.On, suite.Places...); err != nil {
		return nil, err
	}
	if f.Lease != 0 || f.Given != nil && f.Given("lease") {
		if err := harness.LeaseFits(f.Lease); err != nil {
			return nil, exit.Errorf(exit.Usage, "--lease %v: %w", f.Lease, err)
		}
	}
	return a.environments().Open(ctx, f.On, f.Lease)
}

// environments returns what opens the environments of this command.
func (a *app) environments() *environments.Opener {
	return &environments.Opener{Out: a.Out, Log: a.Stderr, Say: a.Say, Real: func() { a.servers.Store(true) }}
}
