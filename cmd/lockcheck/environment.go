package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// environmentFlags are the flags that choose an environment.
type environmentFlags struct {
	on    string
	lease time.Duration
	given func(flag string) bool
}

func (f *environmentFlags) define(cmd *cobra.Command) {
	f.given = cmd.Flags().Changed
	cmd.Flags().StringVar(&f.on, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers)")
	durationFlag(cmd.Flags(), &f.lease, "lease", 0, "the lease `T`, 200ms to 10m (default 10s in sim; on docker 1s, 2s on several masters, 4s where servers have replicas)")
}

// openEnvironment makes the environment that the flags name. If an error comes from the
// environment, the returned runner still describes it.
func (a *app) openEnvironment(ctx context.Context, f environmentFlags) (*batch.Runner, error) {
	if err := choice("on", f.on, suite.Places...); err != nil {
		return nil, err
	}
	if f.lease != 0 || f.given != nil && f.given("lease") {
		if err := harness.LeaseFits(f.lease); err != nil {
			return nil, exit.Errorf(exit.Usage, "--lease %v: %w", f.lease, err)
		}
	}
	return a.environments().Open(ctx, f.on, f.lease)
}

// environments returns what opens the environments of this command.
func (a *app) environments() *environments.Opener {
	return &environments.Opener{Out: &a.out, Log: a.Stderr, Say: a.Say, Real: func() { a.servers.Store(true) }}
}
