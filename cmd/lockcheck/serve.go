package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/serve"
)

func (a *app) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show the pages of all results in a browser",
		Long: `Lists all results below DIR (lockcheck-out), newest first, and serves their
pages. The list follows commands that are under way. Ctrl-C ends it.

Only this machine can read the pages, unless --addr says otherwise. Only the
files of results are served, and no link leads out of DIR.`,
		Example: `  lockcheck serve
  lockcheck serve shards --addr 127.0.0.1:8080`,
		Annotations: map[string]string{untilInterrupt: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("out"):
				return exit.Errorf(exit.Usage, "serve writes nothing: leave out --out, and name DIR")
			case a.JSON:
				return exit.Errorf(exit.Usage, "serve prints no document: leave out --json")
			case len(args) > 1:
				return exit.Errorf(exit.Usage, "serve takes one DIR: leave out %s", strings.Join(args[1:], " "))
			case len(args) == 0:
				args = []string{a.Out.Path}
			}
			return serve.Until(cmd.Context(), args[0], addr, func(url string) { a.Printf("Results below %s: %s\n", args[0], url) })
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:7007", "`HOST:PORT` to listen on; port 0 is a free one")
	return cmd
}
