package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/worker"
	"github.com/lockcheck/lockcheck/internal/workercheck"
)

const workerName = "worker"

func (a *app) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   workerName,
		Short: "Be a client of a run on docker (it is started by one)",
		Long: `Speaks the worker protocol on standard input and output: one JSON object a line.
A run on docker starts one for each client. lockcheck run --worker starts a
program of your own instead. See docs/worker.md.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := worker.Serve(cmd.Context(), a.stdin, a.raw, worker.Catalogue); err != nil {
				return exit.Errorf(exit.Usage, "%v", err)
			}
			return nil
		},
	}
	cmd.AddCommand(a.workerCheckCommand())
	return cmd
}

// checkLease is T in the conversation of worker check: longer than all of it, so that no
// lease ends meanwhile.
const checkLease = time.Minute

func (a *app) workerCheckCommand() *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:   "check -- COMMAND…",
		Short: "Check that a worker of your own keeps to the protocol",
		Long: `Has a scripted conversation with a worker: init, acquire, read, write, release,
an acquire while another client holds the lock, an unknown operation, a line that
is not JSON, and the end. For each wrong message it prints what was expected, and
where docs/worker.md says so. It needs no Docker: the servers of --store redis
and redlock are in lockcheck. With another --store there is no server, so
operations may fail.`,
		Example: `  lockcheck worker check -- python3 worker.py
  lockcheck worker check --store zookeeper -- ./worker --verbose`,
		RunE: func(_ *cobra.Command, command []string) error {
			if len(command) == 0 {
				return exit.Errorf(exit.Usage, "worker check needs the command of a worker, for example: lockcheck worker check -- python3 worker.py")
			}
			if err := ask.Choice("store", store, catalogue.WorkerStores()...); err != nil {
				return err
			}
			if err := ask.Startable(command[0]); err != nil {
				return exit.Errorf(exit.Usage, "%w", err)
			}
			o := workercheck.Options{Command: command, Store: worker.TargetOf(store), Lease: checkLease, Out: a.raw}
			if lock, err := catalogue.WorkerLock("", store); err == nil && lock.Store == catalogue.StoreRedis && lock.Replicas == 0 {
				o.Servers = max(1, lock.Nodes)
			}
			wrong, err := workercheck.Run(o)
			switch {
			case err != nil:
				return exit.Errorf(exit.Usage, "%w", err)
			case wrong > 0:
				return exit.Errorf(exit.Violated, "%s wrong", names.Count(wrong, "message"))
			}
			fmt.Fprintln(a.raw, "The worker keeps to the protocol.")
			return nil
		},
	}
	cmd.Flags().StringVar(&store, "store", catalogue.WorkerStores()[0], "the `servers` of the worker, as in run --store")
	return cmd
}
