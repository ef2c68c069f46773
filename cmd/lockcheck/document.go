package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
)

// presentation are the flags that do not affect what is explored.
var presentation = []string{"out", "json", "verbose", "quiet", "jobs", "keep", "no-shrink", "shard", "junit", "baseline", "markdown"}

// newHead returns the head of the result of a command.
func newHead(cmd *cobra.Command, args []string) results.Head {
	h := results.Head{Schema: results.Schema, Command: cmd.Name(), Version: harness.Version, Revision: revision(), Settings: map[string]string{}}
	if len(args) > 0 {
		h.Settings["arguments"] = strings.Join(args, " ")
	}
	if on := cmd.Flags().Lookup("on"); on != nil {
		maps.Copy(h.Settings, environments.Describe(on.Value.String()).Surroundings())
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(presentation, f.Name) {
			h.Settings[f.Name] = f.Value.String()
		}
	})
	return h
}

// newDocument returns the result of run or suite before the first run.
func newDocument(cmd *cobra.Command, args []string, seed uint64) *results.Document {
	d := &results.Document{Head: newHead(cmd, args), Seed: seed}
	d.Settings["seed"] = strconv.FormatUint(seed, 10)
	return d
}

// conclude decides the outcome of a command that an error may have ended early, writes
// it for machines, and returns an error with the exit code.
func (a *app) conclude(d *results.Document, failed error) error {
	d.DecideAfter(failed)
	a.Disputes(d)
	if a.JSON {
		if err := a.PrintJSON(d); err != nil {
			return err
		}
	}
	if err := a.report(d, failed); err != nil {
		return err
	}
	return cmp.Or(failed, exit.With(d.ExitCode))
}

// leave saves a result, and prints that it is a shard, if it is.
func (a *app) leave(d *results.Document, failed error) error {
	err := a.save(d, failed)
	if err == nil {
		a.Shard(d.Shards)
	}
	return err
}

// save writes the page of a result to the directory for output, and of a shard the
// result. failed is the error that ended it early, or nil.
func (a *app) save(d *results.Document, failed error) error {
	if d.Interrupted || failed != nil {
		d.Shards.Interrupt()
	}
	a.Out.TakeEarlier(d, &a.baseline, a.Say)
	d.DecideAfter(failed)
	if d.Shards == nil {
		return a.Out.Show(index.Of(a.Out.Path, d))
	}
	return a.Out.Leave(d)
}
