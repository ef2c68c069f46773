package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/replay"
)

// workerFlag adds the flag that lets a schedule start its worker.
func workerFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-worker", false, "start the command of the worker that a schedule names")
}

func (a *app) replayCommand() *cobra.Command {
	var f replay.Changes
	var promised []string
	var options string
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Run again what a file has kept",
		Long: `Carries out a saved schedule again (schedule.json, or the history.jsonl beside
it; of a directory all schedules below it) and judges the run anew. In the
simulator the history comes out the same to the byte, unless the lock or
lockcheck has changed since: then it says how many of the recorded decisions
were not asked for, and how many were missing.

A schedule that was shrunk promises the property that it was shrunk for. So
counterexamples of the past are regression tests: the exit code is 0 if each
property holds now, 1 if one of them is still violated, and 2 if a run no longer
proves anything.

The schedule of a worker names the command that starts it. With --allow-worker
that command runs on this machine: read it first.`,
		Example: `  lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json
  lockcheck replay counterexample.json --lock redis-set-lua
  lockcheck replay -q regressions`,
		Args:        needArgs("FILE", "lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if f.Promise, err = ask.Promise(promised); err != nil {
				return err
			}
			if cmd.Flags().Changed("lock") && !slices.Contains(names.Locks(), f.Lock) {
				return ask.Unknown("lock", f.Lock, names.Locks())
			}
			if cmd.Flags().Changed("option") {
				o, err := ask.Options(options)
				if err != nil {
					return err
				}
				f.Options = &o
			}
			files, err := replay.Schedules(args)
			if err != nil {
				return err
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			return a.player().Replay(cmd.Context(), files, f)
		},
	}
	cmd.Flags().StringVar(&f.Lock, "lock", "", "the same schedule on another `lock`")
	cmd.Flags().StringVar(&options, "option", "", "with these `options` of the lock instead of the recorded ones")
	workerFlag(cmd, &f.AllowWorker)
	promiseFlag(cmd, &promised)
	serverFlags(cmd, &f.Servers)
	return cmd
}

// player returns what carries out schedules again.
func (a *app) player() *replay.Player { return &replay.Player{Printer: a.Printer, Open: a.open} }
