package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
	"github.com/lockcheck/lockcheck/workloads"
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
		Short: "Compare every lock under every fault with the expected violations",
		Long: `Searches every lock under every fault, and compares the violations with a table:
those that must be found, those that may be found, and no others. The same
command finds the same, until something changes.

A cell has --runs runs. A flawed variant has a quarter of them where it should
behave like the sound lock. A cell with an expected violation has more runs
until it is found. An unexpected violation fails. So does an expected one that
was not found in ten times the runs that it takes on average (docs/random.md).`,
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
	failed = cmp.Or(failed, a.save(doc, ended))
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

// columns returns the faults to look at. They include "none", unless a flag takes it
// out, and with "none" the workloads that misuse the lock.
func (f *matrixFlags) columns() ([]string, error) {
	list := slices.Clone(f.faults)
	none := slices.ContainsFunc(list, func(name string) bool { return name == "all" || name == catalogue.NoFault }) ||
		len(list) > 0 && strings.HasPrefix(list[0], "-")
	if len(list) > 1 || len(list) == 1 && list[0] == "-none" {
		none = none && !slices.Contains(list, "-none")
		list = slices.DeleteFunc(list, func(name string) bool { return strings.TrimPrefix(name, "-") == catalogue.NoFault })
		if len(list) == 0 {
			list = []string{"all"}
		}
	}
	kinds, err := ask.Columns(list)
	if err != nil {
		return nil, err
	}
	var names []string
	if none {
		names = append(names, catalogue.NoFault)
		for _, w := range workloads.Misuses() {
			names = append(names, w.Name)
		}
	}
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names, nil
}

// cells returns the cells that the arguments and flags name. absent lists the pairs of
// a lock and a fault that have no cell in this environment.
func (a *app) cells(p *batch.Runner, args []string, f matrixFlags) (cells []*explore.Cell, absent []results.MatrixNoCell, err error) {
	ids, err := ask.Match("lock", args, names.Locks())
	if err != nil {
		return nil, nil, err
	}
	names, err := f.columns()
	if err != nil {
		return nil, nil, err
	}
	calibration, err := catalogue.Calibrated()
	if err != nil {
		return nil, nil, err
	}
	shared := explore.Settings{
		On: p.Name(), Lease: p.BaseLease(), Seed: f.seed, Runs: f.runs, Jobs: f.jobs,
		Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount,
	}
	if p.Name() != "sim" {
		shared.Usual(p.BaseLease())
		shared.Count, shared.Busy = explore.Exactly(1), false // expectations are for single faults
		shared.Runs, shared.For = batch.Unlimited, f.limit
	}
	var kinds []faults.Fault
	for _, name := range names {
		if k, ok := faults.Find(name); ok {
			kinds = append(kinds, k)
		}
	}
	if kinds, err = ask.AvailableFaults(a.Say, p, kinds, true); err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		lock, _ := catalogue.FindLock(id)
		for _, name := range names {
			i := slices.IndexFunc(kinds, func(k faults.Fault) bool { return k.Name == name })
			if _, kind := faults.Find(name); kind && i < 0 || !kind && !slices.Contains(lock.Columns(), name) {
				continue
			}
			if i >= 0 {
				if reason := cmp.Or(lock.Applies(kinds[i], shared.Server), p.Strikes(&lock, kinds[i])); reason != nil {
					absent = append(absent, results.MatrixNoCell{Lock: id, Fault: name, Reason: reason.Error()})
					continue
				}
			}
			c, err := explore.NewCell(shared, lock, id, name, &calibration)
			if err != nil {
				return nil, nil, err
			}
			if f.holding && !c.Expect.HoldsSlowly() {
				continue
			}
			cells = append(cells, c)
		}
	}
	switch {
	case len(cells) > 0:
		return cells, absent, nil
	case f.holding:
		return nil, nil, exit.Errorf(exit.Usage, "none of these cells must hold: leave out --holding, or name other locks or faults")
	}
	return nil, nil, exit.Errorf(exit.Usage, "none of these faults applies: %s", absent[0].Reason)
}

// matrixInSim runs all cells in parallel. On error it still returns the finished cells.
func (a *app) matrixInSim(p *batch.Runner, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	found, whole, err := explore.Matrix(p.Ctx, p.Simulator(), cells, f.jobs, a.MatrixProgress(true))
	a.ClearProgress()
	done := []results.Cell{}
	for i, c := range cells {
		if found[i].Runs == 0 && !whole[i] {
			continue // an error ended the matrix before this cell began
		}
		m, failed := a.judged(p, c, found[i], whole[i], f.shrink)
		done, err = append(done, m), cmp.Or(err, failed)
	}
	return done, err
}

// matrixInRealTime runs one cell after another, where runs take real time. If the
// environment breaks down, it still returns the finished cells.
func (a *app) matrixInRealTime(p *batch.Runner, cells []*explore.Cell, f matrixFlags) ([]results.Cell, error) {
	progress := a.MatrixProgress(false)
	runs := 0
	done := []results.Cell{}
	for i, c := range cells {
		if p.Interrupted() {
			break
		}
		if !c.Expect.Holds() {
			c.Enough = c.Shown
		}
		p.Under = underOf(c)
		r, err := p.Batch(&c.Settings, func(n int) {
			if progress != nil {
				progress(explore.Far{Cells: len(cells), CellsDone: i, Runs: runs + n})
			}
		})
		a.ClearProgress()
		if err != nil && (exit.Code(err) != exit.Unavailable || r == nil || r.Runs == 0) {
			return done, err
		}
		runs += r.Runs
		m, failed := a.judged(p, c, r, err == nil && !p.Interrupted(), f.shrink)
		if done = append(done, m); cmp.Or(failed, err) != nil {
			return done, cmp.Or(failed, err)
		}
	}
	return done, nil
}

// underOf returns the directory below --out for the runs of a cell; "" means --out
// itself.
func underOf(c *explore.Cell) string {
	_, workload := (&results.Expectation{Fault: c.Fault}).Does()
	return workload
}

// judged judges a cell. It keeps and minimises the first run with an unexpected
// violation; with all set, also the first run with an expected one.
func (a *app) judged(p *batch.Runner, of *explore.Cell, r *explore.Result, whole, all bool) (results.Cell, error) {
	c := results.MatrixCell(of, r, whole)
	run, property := c.First()
	unexpected := c.Expected.Unexpected != nil
	if run < 0 || !unexpected && !all {
		return c, nil
	}
	p.Under = underOf(of)
	x := &results.Counterexample{Seed: c.Seed + uint64(run)}
	c.Property(property).Counterexample = x
	runs, err := p.Keep(&of.Settings, r.Only(run), false)
	kept := runs[run]
	reported := kept.Judged
	var shown results.Counterexample
	if batch.Explain(&shown, reported, property); unexpected && shown.Sentence != "" {
		x.Sentence = string(property) + ": " + shown.Sentence
	}
	if err == nil {
		x.File = filepath.Join(kept.Dir, rundir.HistoryFile)
		if p.Name() == "sim" {
			var short batch.Shrunk
			if short, err = p.ShrinkFor(kept.Judged, property, p.RunName(kept.Judged.Plan)); short.Dir != "" {
				x.Shrunk = filepath.Join(short.Dir, rundir.HistoryFile)
			}
			reported = cmp.Or(short.Judged, reported)
		}
	}
	if reported != nil && p.Name() == "sim" { // in other environments Porcupine judges all runs
		c.Expected.Second.Add(terminal.SecondOf(reported.Verdicts))
	}
	return c, err
}
