package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/harness"
	"github.com/lockcheck/lockcheck/history"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]any{"schema": 1, "version": harness.Version, "history": history.Format, "go": runtime.Version()})
			}
			a.printf("lockcheck %s, history format %d, %s\n", harness.Version, history.Format, runtime.Version())
			return nil
		},
	}
}
