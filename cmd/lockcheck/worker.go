package main

import (
	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/worker"
)

const workerName = "worker"

func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
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
}
