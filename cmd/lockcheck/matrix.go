package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
)

// matrixFlags are the flags of matrix.
type matrixFlags struct {
	environment ask.Environment
	faults      []string
	seed        uint64
	runs        int
	limit       time.Duration
	jobs        int
	holding     bool
	markdown    bool
	shrink      bool // also the expected violations
	shard       explore.Shard
}

func (a *app) matrixCommand() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix [LOCK…]",
		Short: "Hold every lock under every fault against what is expected of it",
		Long: `Looks for violations in every cell of the table of locks and faults, and holds
what it finds against what is known: what must be found, what may be, and that
nothing else is. The same command finds the same, until something changes.

A cell has --runs runs, or a quarter of them where a flawed variant is expected
to do as the lock that it is like: what must hold is held to all of them. One in
which something must be found has more, until it was. What was not expected
fails, and so does what was expected and not found in ten times the runs that it
takes on average (docs/random.md).`,
		Example: `  lockcheck matrix
  lockcheck matrix 'redis-set-*' --fault pause,partition -v
  lockcheck matrix --holding --runs 100000
  lockcheck matrix --markdown > matrix.md`,
		Annotations: map[string]string{keepsFiles: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.matrix(cmd, args, f)
		},
	}
	environmentFlags(cmd, &f.environment)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.faults, "fault", []string{"all"}, "which `faults`: names, all, none (with the workloads that misuse a lock); -NAME takes one out")
	fl.Uint64Var(&f.seed, "seed", 1, "the first `seed` of every cell")
	fl.IntVar(&f.runs, "runs", 1000, "how many runs a cell has, or more until it has found what must be found; in sim")
	durationFlag(fl, &f.limit, "for", 10*time.Second, "how long to look in each cell; on docker")
	fl.IntVar(&f.jobs, "jobs", 0, "runs at once (default: one for each core)")
	fl.BoolVar(&f.holding, "holding", false, "only the cells that must hold, a slow hand-over aside")
	fl.BoolVar(&f.markdown, "markdown", false, "print a table for a pull request, with the reasons")
	fl.BoolVar(&f.shrink, "shrink", false, "keep and shrink a run of every cell that broke, not only of what was not expected")
	shardFlag(fl, &f.shard)
	return cmd
}

func (a *app) matrix(cmd *cobra.Command, args []string, f matrixFlags) error {
	if err := f.validate(cmd); err != nil {
		return err
	}
	if err := a.Out.Reserve(cmd.Name(), f.shard); err != nil {
		return err
	}
	doc := newDocument(cmd, args, f.seed)
	doc.Shards = results.Part(f.shard)
	p, gone := a.open(cmd.Context(), f.environment)
	if gone != nil && exit.Code(gone) != exit.Unavailable {
		return gone
	}
	cells, absent, err := a.cells(p, args, f)
	if err != nil {
		return err
	}
	doc.Matrix, doc.Cells = &results.Matrix{On: p.Name(), Lease: p.BaseLease(), Absent: absent}, []results.Cell{}
	cells = f.mine(cells, doc)
	if err := a.Out.Clear(&doc.Head); err != nil {
		return err
	}
	start, failed := time.Now(), gone
	switch {
	case gone != nil:
	case p.Name() == "sim":
		doc.Cells, failed = a.matrixInSim(p, cells, f)
	default:
		doc.Cells, failed = a.matrixInRealTime(p, cells, f)
	}
	doc.Matrix.Left = len(cells) - len(doc.Cells)
	ended := failed // the error that ended it, unless it came from the environment
	if exit.Code(failed) == exit.Unavailable {
		doc.Matrix.Trouble, ended = failed.Error(), nil
	} else if failed != nil && len(doc.Cells) == 0 {
		return failed
	}
	if gone == nil {
		doc.Seconds, doc.Interrupted = time.Since(start).Seconds(), p.Interrupted()
	}
	failed = cmp.Or(failed, a.saveShard(doc, ended))
	doc.DecideAfter(failed)
	if a.JSON || gone == nil && (failed == nil || len(doc.Cells) > 0) {
		if err := a.Document(doc, f.markdown); err != nil {
			return err
		}
	}
	if !f.markdown && gone == nil {
		a.Shard(doc.Shards)
	}
	return cmp.Or(failed, exit.With(doc.ExitCode))
}

// mine returns the cells of this shard, each of them whole: the end of a cell depends
// on the outcomes of all its runs. It notes the names of all cells in doc.
func (f *matrixFlags) mine(cells []*explore.Cell, doc *results.Document) (mine []*explore.Cell) {
	if doc.Shards == nil {
		return cells
	}
	for _, c := range cells {
		name := results.MatrixName(c.Lock, c.Fault)
		doc.Matrix.Table = append(doc.Matrix.Table, name)
		if f.shard.Has(name, f.seed) {
			mine = append(mine, c)
		}
	}
	return mine
}

// validate checks the values of the flags.
func (f *matrixFlags) validate(cmd *cobra.Command) error {
	docker := f.environment.On == "docker"
	for _, c := range []struct {
		wrong bool
		words string
	}{
		{f.limit <= 0, "--for has to be more than 0"},
		{f.markdown && cmd.Flag("json").Value.String() == "true", "--json and --markdown: one of them"},
		{docker && cmd.Flags().Changed("runs"), "--runs is for sim; on docker --for says how long to look in each cell"},
		{!docker && cmd.Flags().Changed("for"), "--for is for docker; in sim --runs says how many runs a cell has"},
	} {
		if c.wrong {
			return exit.Errorf(exit.Usage, "%s", c.words)
		}
	}
	return ask.Numbers(cmd.Flags().Changed, ask.Number("runs", f.runs, harness.MostRuns), ask.Number("jobs", f.jobs, harness.MostJobs))
}
