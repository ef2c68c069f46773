package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// How long random runs may look for what is wrong with a lock.
const (
	flawSeeds = 20
	flawRuns  = 20_000
)

// flawsDocument is what bench flaws prints with --json.
type flawsDocument struct {
	Schema int          `json:"schema"`    // version of this document
	Seeds  int          `json:"seeds"`     // base seeds that each flaw was looked for from
	Most   int          `json:"most_runs"` // runs from each base seed, at most
	Flaws  []flawResult `json:"flaws"`     // what was looked for, and how soon it was found
}

// flawResult is a lock under faults that have to show what is wrong with it.
type flawResult struct {
	Lock   string   `json:"lock"`               // the lock
	Like   string   `json:"like,omitempty"`     // the lock that a flawed variant is otherwise like
	Flaw   string   `json:"flaw,omitempty"`     // what is wrong with a flawed variant
	Faults []string `json:"faults"`             // faults that are drawn from
	Does   string   `json:"workload,omitempty"` // what clients do, where it is not the usual
	Shows  string   `json:"shows"`              // property that has to be violated
	Median int      `json:"median_runs"`        // runs until it was found: the median of all base seeds
	Worst  int      `json:"worst_runs"`         // the same from the worst base seed
	Missed int      `json:"missed_seeds"`       // base seeds from which it was not found
}

// flaws measures how long random runs take to find each exposure. They know
// nothing of the cases that document it.
func (a *app) flaws(cmd *cobra.Command, f benchFlags) error {
	for _, flag := range []string{"on", "lease", "clients", "for", "seed"} {
		if cmd.Flags().Changed(flag) {
			return fail(usage, "bench flaws decides by itself for --%s", flag)
		}
	}
	exposures := catalogue.Exposures
	list, err := explore.Convict(cmd.Context(), sim.Simulator, exposures, flawSeeds, flawRuns, f.jobs, func(done int) {
		if isTerminal(a.stderr) && !a.quiet {
			fmt.Fprintf(a.stderr, "\rlockcheck: %d of %d base seeds", done, flawSeeds*len(exposures))
		}
	})
	a.clearProgress()
	if err != nil {
		return err
	}
	code := held
	results := make([]flawResult, len(list))
	for i := range list {
		c := &list[i]
		lock, _ := catalogue.FindLock(c.Lock)
		results[i] = flawResult{
			Lock: c.Lock, Like: lock.Like, Flaw: lock.Flaw, Faults: append([]string{}, c.Faults...), Does: c.Workload, Shows: string(c.Shows),
			Median: c.Median(), Worst: c.Worst(), Missed: c.Missed(),
		}
		if c.Missed() > 0 {
			code = violated
		}
	}
	if a.json {
		if err := a.printJSON(flawsDocument{1, flawSeeds, flawRuns, results}); err != nil {
			return err
		}
		return exit(code)
	}
	const row = "%-29s %-17s %-16s %6s %6s\n"
	a.printf(row, "lock", "under", "violates", "median", "worst")
	for i := range list {
		c := &list[i]
		worst := thousands(c.Worst())
		if c.Missed() > 0 {
			worst = "-"
		}
		a.printf(row, c.Lock, c.Under(), c.Shows, thousands(c.Median()), worst)
	}
	a.printf("\n")
	a.paragraph(0, fmt.Sprintf("Runs until random faults showed it, from %d base seeds; %s at most.", flawSeeds, thousands(flawRuns)))
	return exit(code)
}
