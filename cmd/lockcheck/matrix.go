package main

import (
	"cmp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/results"
)

// matrixFlags are the flags of matrix.
type matrixFlags struct {
	place    placeFlags
	faults   []string
	seed     uint64
	runs     int
	limit    time.Duration
	jobs     int
	holding  bool
	markdown bool
	shrink   bool // what was expected, too
	shard    explore.Shard
}

func (a *app) matrixCommand() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   matrixName + " [LOCK…]",
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
	f.place.define(cmd)
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

// matrixCell is a cell and what came of it.
type matrixCell struct {
	*explore.Cell
	explore.Judgement
	result   *explore.Result
	kept     keptRun   // the first run with what was not expected, or with --shrink the first that broke
	shrunk   shrunkRun // the same, shrunk
	sentence string    // that convicts it
}

func (a *app) matrix(cmd *cobra.Command, args []string, f matrixFlags) error {
	if err := f.validate(cmd); err != nil {
		return err
	}
	if err := a.ownPlace(cmd.Name(), f.shard); err != nil {
		return err
	}
	head := newHead(cmd, args)
	head.Settings["seed"], head.Shards = strconv.FormatUint(f.seed, 10), results.Part(f.shard)
	p, gone := a.open(cmd, f.place)
	if gone != nil && !troubled(gone) {
		return gone
	}
	cells, absent, err := a.cells(p, args, f)
	if err != nil {
		return err
	}
	m := &matrixOutcome{absent: absent, flags: f, place: p.name, lease: p.lease, head: head}
	cells = m.shardOf(cells)
	if gone != nil {
		m.left, m.trouble = len(cells), gone
		return a.noMatrix(m)
	}
	if err := a.clearResult(&head); err != nil {
		return err
	}
	start := time.Now()
	if p.name == "sim" {
		m.cells, err = a.matrixInSim(p, cells, f)
	} else {
		m.cells, err = a.matrixInPlace(p, cells, f)
	}
	m.took, m.left, m.trouble = time.Since(start), len(cells)-len(m.cells), err
	if err != nil && !troubled(err) && len(m.cells) == 0 {
		return err
	}
	if m.head.Interrupted = p.interrupted(); m.head.Interrupted || err != nil && !troubled(err) {
		m.head.Shards.Interrupt()
	}
	if f.shard.Of > 0 {
		a.takeEarlierCells(m)
		err = cmp.Or(err, a.writeMatrix(a.out, m))
		m.trouble = err
	}
	if a.json || err == nil || len(m.cells) > 0 {
		err = cmp.Or(err, a.show(m))
	}
	if !f.markdown {
		a.shardLine(m.head.Shards)
	}
	return cmp.Or(err, exit(m.code()))
}

// noMatrix concludes one whose place cannot be set up.
func (a *app) noMatrix(m *matrixOutcome) error {
	if err := a.clearResult(&m.head); err != nil {
		return err
	}
	if m.flags.shard.Of > 0 {
		a.takeEarlierCells(m)
		m.trouble = cmp.Or(a.writeMatrix(a.out, m), m.trouble)
	}
	if a.json {
		if err := a.printJSON(m.document()); err != nil {
			return err
		}
	}
	return m.trouble
}

// show prints a matrix as the flags say.
func (a *app) show(m *matrixOutcome) error {
	switch {
	case a.json:
		return a.printJSON(m.document())
	case m.flags.markdown:
		m.markdown(a.stdout)
	default:
		a.matrixTable(m)
	}
	return nil
}

// validate holds flags to the values that they may have.
func (f *matrixFlags) validate(cmd *cobra.Command) error {
	docker := f.place.on == "docker"
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
			return fail(usage, "%s", c.words)
		}
	}
	return numbers(cmd.Flags().Changed, []number{{"runs", f.runs, harness.MostRuns}, {"jobs", f.jobs, harness.MostJobs}})
}
