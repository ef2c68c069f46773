package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/harness"
)

func (a *app) replayCommand() *cobra.Command {
	var promised []string
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Run again what a file has kept",
		Long: `Carries out a saved schedule again (schedule.json, or the history.jsonl beside
it) and judges the run anew. In the simulator the history comes out the same to
the byte, unless the lock or lockcheck has changed since: then it says how many
of the recorded choices were not asked for, and how many were missing.`,
		Example: `  lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json`,
		Args:    needArgs("FILE", "lockcheck replay lockcheck-out/redis-set-lua-pause-1/schedule.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pr, err := parsePromise(promised)
			if err != nil {
				return err
			}
			code := held
			for _, file := range args {
				c, err := a.replay(cmd, file, pr)
				if err != nil {
					return err
				}
				code = worse(code, c)
			}
			return exit(code)
		},
	}
	promiseFlag(cmd, &promised)
	return cmd
}

// replay carries out one schedule again.
func (a *app) replay(cmd *cobra.Command, file string, pr promise) (int, error) {
	plan, err := readPlan(file)
	if err != nil {
		return usage, err
	}
	if len(pr) == 0 {
		if pr, err = parsePromise(plan.Promises); err != nil {
			return usage, err
		}
	} else {
		plan.Promises = pr.strings()
	}
	p, err := a.openPlace(cmd, placeFlags{on: plan.On, lease: plan.Lease})
	if err != nil {
		return noPlace, err
	}
	name := filepath.Base(filepath.Dir(file)) + "-replay"
	j, fit, err := p.execute(plan, name)
	if err != nil {
		return bug, err
	}
	dir, err := a.save(name, j)
	if err != nil {
		return usage, err
	}
	code := pr.code(j.Outcome)
	if a.json {
		doc := newVerdictDocument(j.Verdicts, j.Reached)
		doc.File = filepath.Join(dir, historyFile)
		return code, a.printJSON(doc)
	}
	if err := a.story(j.History, j.Verdicts, pr); err != nil {
		return bug, err
	}
	a.verdictTable(j.Verdicts, pr)
	switch {
	case plan.On != "sim":
		a.printf("The same schedule, on %s: real time does not repeat to the byte.\n", plan.On)
	case fit.Unused > 0 || fit.Defaulted > 0:
		a.printf("Not the same run: %s of the record unused, %s missing in it.\n",
			plural(fit.Unused, "choice"), plural(fit.Defaulted, "choice"))
	case sameHistory(file, dir):
		a.printf("The history is the same to the byte.\n")
	}
	a.printf("Files    %s\n", dir)
	return code, nil
}

// sameHistory compares the history beside a replayed file with the new one.
func sameHistory(file, dir string) bool {
	old, err1 := os.ReadFile(filepath.Join(filepath.Dir(file), historyFile))
	now, err2 := os.ReadFile(filepath.Join(dir, historyFile))
	return err1 == nil && err2 == nil && bytes.Equal(old, now)
}

// readPlan reads a schedule; of a history it reads the schedule beside it.
func readPlan(file string) (*harness.Plan, error) {
	beside := ""
	if strings.HasSuffix(file, ".jsonl") {
		beside = file
		file = filepath.Join(filepath.Dir(file), scheduleFile)
	}
	f, err := os.Open(file)
	if err != nil {
		if beside != "" {
			return nil, fail(usage, "no schedule to replay beside %s: %v", beside, err)
		}
		return nil, fail(usage, "%v", err)
	}
	defer f.Close()
	plan, err := harness.ReadPlan(f)
	if err != nil {
		return nil, fail(usage, "%s: %v", file, err)
	}
	return plan, nil
}
