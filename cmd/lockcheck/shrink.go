package main

import (
	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/ask"
)

func (a *app) shrinkCommand() *cobra.Command {
	var property string
	var worker bool
	cmd := &cobra.Command{
		Use:   "shrink FILE…",
		Short: "Find the shortest run with the same violation",
		Long: `Takes a saved schedule (schedule.json, or the history.jsonl beside it) whose run
violates a property, and looks for the shortest run of the same lock, under the
same kinds of faults, that violates the same property. It explains that run, and
keeps it below --out, in NAME/shrunk-PROPERTY beside the files of the run NAME.
Its schedule is like any other, and promises the property it was shrunk for.

One file gives one result, always: the search has a budget of events, not of
time. "run" shrinks the first violation of each property by itself. What was
recorded on docker does not repeat, and the schedules of cases are written by
hand: neither can be shrunk.

Exit code 0: shrunk. 2: there was nothing to shrink.`,
		Example: `  lockcheck shrink lockcheck-out/redis-set-lua-pause-1/schedule.json
  lockcheck shrink --property resource redis-set-lua-pause-1/history.jsonl`,
		Args:        needArgs("FILE", "lockcheck shrink lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var pr checker.Promise
			if property != "" {
				var err error
				if pr, err = ask.Promise([]string{property}); err != nil {
					return err
				}
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			return a.player().Shrink(cmd.Context(), args, pr, worker)
		},
	}
	cmd.Flags().StringVar(&property, "property", "", "the `property` to shrink for (default: the first that is promised and violated)")
	workerFlag(cmd, &worker)
	return cmd
}
