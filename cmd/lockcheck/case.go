package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/cases"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
)

// caseFlags are the flags that change a case.
type caseFlags struct {
	environment ask.Environment
	all         bool
	changes     cases.Changes
	telling     cases.Telling
}

func (a *app) caseCommand() *cobra.Command {
	f := caseFlags{telling: cases.Telling{Keys: a.stdin}}
	cmd := &cobra.Command{
		Use:   "case [ID…]",
		Short: "Reproduce documented failures, each with and without its remedy",
		Long: fmt.Sprintf(`Reproduces documented failures of locks. Without an ID it runs all cases, and
prints one story and a summary. With IDs (or globs), or with --all, it prints
the story of each.

Each case runs three times under the same schedule: as documented, where the
judge, which does not know the case, has to find the violation; without the
fault, where nothing may be wrong; and with the remedy, which has to hold. On
docker a case that does not show its failure runs up to %s, with twice the
lease each time if that may help a slow machine. A case that goes wrong is not
repeated, unless the machine may have been too slow.

--compare tells of the flaw and of its remedy under the same faults, with both
pictures on one time axis, here and on the page.

--step walks through the story of one case. Each step has the picture with a
line at its time, what happened, and what each client believed and each server
knew. On a terminal, Enter and the arrow keys go from step to step, and q ends
the walk; elsewhere all steps are printed.

--site writes a web site, which needs no server: a page that lists the cases by
what they teach, and a page for each, with its story, picture and remedy.

--lock, --pause and --lease change one thing and run the case again. Nothing is
documented for that: the exit code is 1 if anything is violated.`, names.Times(batch.Tries)),
		Example: `  lockcheck case
  lockcheck case --all
  lockcheck case redis-get-del-race
  lockcheck case redis-get-del-race --lock redis-set-lua
  lockcheck case redis-get-del-race --compare
  lockcheck case redis-get-del-race --step
  lockcheck case --all --site public
  lockcheck case 'redis-*' --on docker`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := ask.Match("case", args, names.Cases())
			if err != nil {
				return err
			}
			changed, play := cmd.Flags().Changed, &cases.Stage{Printer: a.Printer, Telling: f.telling}
			if err := f.telling.Check(ids, changed); err != nil {
				return err
			}
			if changed("pause") && f.changes.Pause <= 0 {
				return exit.Errorf(exit.Usage, "--pause %v: it has to be more than 0", f.changes.Pause)
			}
			if _, ok := catalogue.FindLock(f.changes.Lock); !ok && changed("lock") {
				return ask.Unknown("lock", f.changes.Lock, names.Locks())
			}
			if changed("lock") || changed("pause") {
				if ids, err = play.Changeable(ids, ask.Named(args), f.changes); err != nil {
					return err
				}
			}
			if f.all && len(args) > 0 {
				return exit.Errorf(exit.Usage, "--all means all cases: leave out %s", strings.Join(args, " "))
			}
			if err := a.Out.CanKeep(); err != nil {
				return err
			}
			p, err := a.open(cmd.Context(), f.environment)
			if err != nil {
				return err
			}
			if changed("lock") || changed("pause") || changed("lease") {
				return play.Retell(p, ids, ask.Named(args), f.changes)
			}
			tells := func(id string) bool { return f.all && f.telling.Site == "" || len(args) > 0 || id == exampleCase }
			return play.Reproduce(p, ids, ask.Named(args), tells)
		},
	}
	environmentFlags(cmd, &f.environment)
	cmd.Flags().BoolVar(&f.all, "all", false, "print the story of every case")
	cmd.Flags().BoolVar(&f.telling.Compare, "compare", false, "tell of the flaw and of its remedy, on one time axis")
	cmd.Flags().BoolVar(&f.telling.Step, "step", false, "walk through the failure step by step")
	cmd.Flags().StringVar(&f.telling.Site, "site", "", "write a web site to the directory `DIR`")
	cmd.Flags().StringVar(&f.changes.Lock, "lock", "", "run it with another `LOCK`")
	durationFlag(cmd.Flags(), &f.changes.Pause, "pause", 0, "`length` of pauses")
	return cmd
}

// exampleCase is the case whose story "lockcheck case" prints, as in the README.
const exampleCase = "redis-get-del-race"
