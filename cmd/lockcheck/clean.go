package main

import (
	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/environments"
)

// cleanDocument is what clean prints with --json.
type cleanDocument struct {
	Schema  int      `json:"schema"`  // version of this document
	Removed []string `json:"removed"` // containers and processes, or keys and nodes
}

func (a *app) cleanCommand() *cobra.Command {
	var yours *endpoints.Servers
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what runs that were killed have left behind",
		Long: `Removes the containers and processes of runs that were killed (kill -9, a second
Ctrl-C). It leaves those of runs that are still going on.
The engine may still be creating containers for a dead run, so this goes on
until nothing new has come for three seconds. Every run on docker removes what
there is when it starts.

With the addresses of your own servers it removes there what runs on external
have left, instead. It cannot know whether such a run still goes on: end them
first.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.servers.Store(true)
			removed, err := environments.Clean(cmd.Context(), yours)
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
			if err == nil && len(removed) == 0 {
				a.Printf("There was nothing to remove.\n")
			}
			return err
		},
	}
	serverFlags(cmd, &yours)
	return cmd
}
