package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/suite"
)

// misused explains what is wrong with a flag among the arguments, and suggests the flag
// that may have been meant.
func misused(cmd *cobra.Command, args []string, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, args, unknown)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return exit.Errorf(exit.Usage, "--%s %q: %s", wrong.GetFlag().Name, wrong.GetValue(), wrongValue(wrong))
	}
	return exit.Errorf(exit.Usage, "%w", err)
}

// unknownFlag returns the error for an unknown flag. It also suggests --name for -name,
// and the command for a flag that has its name.
func unknownFlag(cmd *cobra.Command, args []string, err *pflag.NotExistError) error {
	typed := "--" + err.GetSpecifiedName()
	if short := err.GetSpecifiedShortnames(); short != "" {
		// In -help, cobra reads -h as a flag and complains about "elp" only.
		i := slices.IndexFunc(args, func(arg string) bool {
			return strings.HasSuffix(arg, short) && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
		})
		if typed = "-" + short; i >= 0 {
			typed = args[i]
		}
	}
	name := strings.TrimLeft(typed, "-")
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	switch near := names.Nearest(name, known); {
	case len(near) > 0 && len(name) > 1:
		return exit.Errorf(exit.Usage, "unknown flag: %s; did you mean --%s?", typed, strings.Join(near, " or --"))
	case slices.Contains(commandNames(cmd), name):
		return exit.Errorf(exit.Usage, "unknown flag: %s; did you mean the command: %s %s?", typed, cmd.CommandPath(), name)
	}
	return exit.Errorf(exit.Usage, "unknown flag: %s; all: %s --help", typed, cmd.CommandPath())
}

// wrongValue describes the values that a flag accepts.
func wrongValue(err *pflag.InvalidValueError) string {
	number, ok := errors.AsType[*strconv.NumError](err)
	kind := map[string]string{"int": "it has to be a whole number", "uint64": "it has to be a whole number from 0", "bool": "it has to be true or false"}[err.GetFlag().Value.Type()]
	switch {
	case ok && number.Err == strconv.ErrRange:
		return kind + ", and this is too large"
	case ok && kind != "":
		return kind
	}
	return cmp.Or(errors.Unwrap(err), error(err)).Error()
}

// environmentFlags defines the flags that choose an environment.
func environmentFlags(cmd *cobra.Command, f *ask.Environment) {
	f.Given = cmd.Flags().Changed
	cmd.Flags().StringVar(&f.On, "on", "sim", "where to run: sim (virtual time, needs nothing), docker (real servers), external (run, replay: your own; see docs/external.md)")
	durationFlag(cmd.Flags(), &f.Lease, "lease", 0, "the lease `T`, 200ms to 10m (default 10s in sim; on docker 1s, 2s on several masters, 4s where servers have replicas)")
}

// serverFlags defines the flags that name the user's own servers.
func serverFlags(cmd *cobra.Command, to **endpoints.Servers) {
	s := new(endpoints.Servers)
	*to = s
	for _, w := range s.Words() {
		if w.Text != nil {
			cmd.Flags().StringVar(w.Text, w.Name, "", "external: "+w.About)
		} else {
			cmd.Flags().BoolVar(w.Is, w.Name, false, "external: "+w.About)
		}
	}
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
	if err := f.CheckServers(); err != nil {
		return nil, exit.Errorf(exit.Usage, "%w", err)
	}
	o := a.environments()
	o.Yours = f.Servers
	return o.Open(ctx, f.On, f.Lease)
}

// environments returns what opens the environments of this command.
func (a *app) environments() *environments.Opener {
	return &environments.Opener{Out: a.Out, Log: a.Stderr, Say: a.Say, Real: func() { a.servers.Store(true) }, Pool: &a.pool}
}

// durationFlag adds a flag for a length of time.
func durationFlag(f *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, usage string) {
	*to = usual
	f.Var((*ask.Duration)(to), name, usage)
}

// shardValue is the value of --shard.
type shardValue explore.Shard

// Set reads i/n, for example 2/4.
func (s *shardValue) Set(text string) error {
	shard, err := explore.ParseShard(text)
	*s = shardValue(shard)
	return err
}

// String returns "" if there are no shards.
func (s *shardValue) String() string {
	if s.Of == 0 {
		return ""
	}
	return explore.Shard(*s).String()
}

// Type returns the name of the value in the help.
func (*shardValue) Type() string { return "i/n" }

func shardFlag(fl *pflag.FlagSet, s *explore.Shard) {
	fl.Var((*shardValue)(s), "shard", "do the part `i/n` of it, as 2/4: the second of four (see: lockcheck merge --help)")
}

func baselineFlag(fl *pflag.FlagSet, to *string) {
	fl.Var((*fileName)(to), "baseline", "result `file` (the output of --json, or the result.json of a suite, shard or merge): its violations are known and do not fail the command")
}

// fileName is the value of a flag that names a file. An empty name is an error: it
// usually comes from a variable that is not set.
type fileName string

func (f *fileName) Set(name string) error {
	if name == "" {
		return errors.New("it has to be the name of a file")
	}
	*f = fileName(name)
	return nil
}

func (f *fileName) String() string { return string(*f) }
func (f *fileName) Type() string   { return "file" }

// readBaseline reads the known violations.
func (a *app) readBaseline(file string) (err error) {
	a.baseline, err = results.ReadKnown(file, a.Out.Path)
	return err
}
