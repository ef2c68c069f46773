package main

import (
	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/exit"
)

// cleanDocument is what clean prints with --json.
type cleanDocument struct {
	Schema  int      `json:"schema"`  // version of this document
	Removed []string `json:"removed"` // containers and processes that were removed
}

func (a *app) cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove what runs that were killed have left behind",
		Long: `Removes the containers and processes of runs that were killed (kill -9, a second
Ctrl-C). It leaves those of runs that are still going on.
The engine may still be creating containers for a dead run, so this goes on
until nothing new has come for three seconds. Every run on docker removes what
there is when it starts.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.servers.Store(true)
			removed, err := docker.Clean(cmd.Context())
			if a.JSON {
				if removed == nil {
					removed = []string{}
				}
				if err := a.PrintJSON(cleanDocument{1, removed}); err != nil {
					return err
				}
			}
			for _, r := range removed {
				a.Printf("removed %s\n", r)
			}
			if err != nil {
				return exit.Errorf(exit.Unavailable, "%w", err)
			}
			if len(removed) == 0 {
				a.Printf("There was nothing to remove.\n")
			}
			return nil
		},
	}
}
