package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// matrixFlags are the flags of matrix.
type matrixFlags struct {
	place     placeFlags
	faults    []string
	seed      uint64
	runs      int
	limit     time.Duration
	jobs      int
	holding   bool
	markdown  bool
	shrink    bool // what was expected, too
	calibrate bool
	file      string // that a calibration is written to
	date      string
}

func (a *app) matrixCommand() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix [LOCK…]",
		Short: "Hold every lock under every fault against what is expected of it",
		Long: `Looks for violations in every cell of the table of locks and faults, and holds
what it finds against what is known: what must be found, what may be, and that
nothing else is. The same command finds the same, until something changes.

A cell that must hold has --runs runs, or a quarter of them where a flawed
variant is expected to do as the lock that it is like. One that must break ends
when all that has to be found was, but not before a quarter. What was not
expected fails, and so does what was expected and not found in ten times the
runs that it takes on average (docs/random.md).`,
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
	fl.IntVar(&f.runs, "runs", 1000, "how many runs a cell has that must hold; in sim")
	durationFlag(fl, &f.limit, "for", 10*time.Second, "how long to look in each cell; on docker")
	fl.IntVar(&f.jobs, "jobs", 0, "runs at once (default: one for each core)")
	fl.BoolVar(&f.holding, "holding", false, "only the cells that must hold, a slow hand-over aside, each with all --runs")
	fl.BoolVar(&f.markdown, "markdown", false, "print a table for a pull request, with the reasons")
	fl.BoolVar(&f.shrink, "shrink", false, "keep and shrink a run of every cell that broke, not only of what was not expected")
	fl.BoolVar(&f.calibrate, "calibrate", false, "measure how many runs it takes to find what must be found, and write it down")
	fl.StringVar(&f.file, "calibration", calibrationPath, "the `file` to write it to")
	fl.StringVar(&f.date, "date", "", "the `day` that a calibration bears (default: today)")
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
	p, err := a.open(cmd, f.place)
	if err != nil {
		return err
	}
	cells, absent, err := a.cells(p, args, f)
	if err != nil {
		return err
	}
	if f.calibrate {
		return a.calibrate(p, cells, f)
	}
	m := &matrixOutcome{absent: absent, flags: f, place: p.name, lease: p.lease}
	start := time.Now()
	if p.name == "sim" {
		m.cells, err = a.matrixInSim(p, cells, f)
	} else {
		m.cells, err = a.matrixInPlace(p, cells, f)
	}
	m.took, m.left = time.Since(start), len(cells)-len(m.cells)
	if err != nil && len(m.cells) == 0 {
		return err
	}
	return cmp.Or(err, a.show(m), exit(m.code()))
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
		{f.runs < 1, "--runs has to be at least 1"},
		{f.jobs < 1 && cmd.Flags().Changed("jobs"), "--jobs has to be at least 1"},
		{f.limit <= 0, "--for has to be more than 0"},
		{f.markdown && cmd.Flag("json").Value.String() == "true", "--json and --markdown: one of them"},
		{docker && cmd.Flags().Changed("runs"), "--runs is for sim; on docker --for says how long to look in each cell"},
		{!docker && cmd.Flags().Changed("for"), "--for is for docker; in sim --runs says how many runs a cell has"},
		{f.calibrate && slices.ContainsFunc([]string{"lease", "seed", "runs", "holding", "markdown"}, cmd.Flags().Changed), "--calibrate measures the default settings: leave out --lease, --seed, --runs, --holding and --markdown"},
		{docker && f.calibrate, "--calibrate measures sim only: leave out --on docker"},
		{!f.calibrate && f.date != "", "--date is the day of a calibration: it needs --calibrate"},
	} {
		if c.wrong {
			return fail(usage, "%s", c.words)
		}
	}
	if _, err := time.Parse(time.DateOnly, f.date); f.date != "" && err != nil {
		return fail(usage, "--date %q: it has to be a day, as 2006-01-02", f.date)
	}
	return nil
}

// columns are the faults to look at, none included where it was not taken out,
// and with it what clients do otherwise than they should.
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
	kinds, err := parseFaults(list)
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

// noCell is a lock and a fault that does not apply to it.
type noCell struct {
	lock, fault string
	reason      error
}

// cells are those that the arguments and flags name, as far as the place offers
// their faults. absent are those that are none.
func (a *app) cells(p *place, args []string, f matrixFlags) (cells []*explore.Cell, absent []noCell, err error) {
	ids, err := match("lock", args, lockIDs())
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
		On: p.name, Lease: p.lease, Seed: f.seed, Runs: f.runs, Jobs: f.jobs,
		Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount,
	}
	if p.name != "sim" {
		shared.Usual(p.lease)
		shared.Runs, shared.For = unlimited, f.limit
	}
	var kinds []faults.Fault
	for _, name := range names {
		if k, ok := faults.Find(name); ok {
			kinds = append(kinds, k)
		}
	}
	if kinds, err = a.available(p, kinds, true); err != nil {
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
				if reason := cmp.Or(lock.Applies(kinds[i], shared.Server), p.strikes(&lock, kinds[i])); reason != nil {
					absent = append(absent, noCell{id, name, reason})
					continue
				}
			}
			c, err := explore.NewCell(shared, lock, id, name, &calibration)
			if err != nil {
				return nil, nil, err
			}
			if f.holding {
				if !c.Expect.HoldsSlowly() {
					continue
				}
				if !c.Inherited() {
					c.Least = shared.Runs
				}
				c.Runs = max(c.Least, c.Runs)
			}
			cells = append(cells, c)
		}
	}
	switch {
	case len(cells) > 0:
		return cells, absent, nil
	case f.holding:
		return nil, nil, fail(usage, "none of these cells must hold: leave out --holding, or name other locks or faults")
	}
	return nil, nil, fail(usage, "none of these faults applies: %w", absent[0].reason)
}

// matrixInSim does all cells side by side.
func (a *app) matrixInSim(p *place, cells []*explore.Cell, f matrixFlags) ([]matrixCell, error) {
	results, whole, err := explore.Matrix(p.ctx, cells, f.jobs, a.matrixProgress(true))
	a.clearProgress()
	if err != nil {
		return nil, err
	}
	var done []matrixCell
	for i, c := range cells {
		if results[i].Runs == 0 && !whole[i] {
			continue // interrupted before it began
		}
		m, err := a.judged(p, c, results[i], whole[i], f.shrink)
		if err != nil {
			return done, err
		}
		done = append(done, m)
	}
	return done, nil
}

// matrixInPlace does one cell after another, where runs take real time. Where
// the place breaks down it returns the cells that were done.
func (a *app) matrixInPlace(p *place, cells []*explore.Cell, f matrixFlags) ([]matrixCell, error) {
	progress := a.matrixProgress(false)
	runs := 0
	var done []matrixCell
	for i, c := range cells {
		if p.interrupted() {
			break
		}
		if !c.Expect.Holds() {
			c.Enough = c.Shown
		}
		r, err := p.batch(&c.Settings, func(n int) {
			if progress != nil {
				progress(explore.Far{Cells: len(cells), CellsDone: i, Runs: runs + n})
			}
		})
		a.clearProgress()
		if err != nil {
			return done, err
		}
		runs += r.Runs
		m, err := a.judged(p, c, r, !p.interrupted(), f.shrink)
		if err != nil {
			return done, err
		}
		done = append(done, m)
	}
	return done, nil
}

// judged judges a cell, and keeps and shrinks the first run with what was not
// expected of it; with all, the first that broke as expected, too.
func (a *app) judged(p *place, c *explore.Cell, r *explore.Result, whole, all bool) (matrixCell, error) {
	m := matrixCell{Cell: c, result: r, Judgement: c.Judge(r, whole)}
	broken := m.Unexpected
	if broken == nil && all {
		for _, code := range c.Expect.Must {
			broken = append(broken, code.Properties()...)
		}
	}
	run, property := first(r, broken)
	if run < 0 {
		return m, nil
	}
	kept, err := a.keep(p, &c.Settings, r.Only(run), false)
	if err != nil {
		return m, err
	}
	m.kept = kept[run]
	if m.Unexpected != nil {
		for _, v := range m.kept.judged.Verdicts {
			if v.Property == property {
				m.sentence = string(v.Property) + ": " + v.Witness.Sentence
			}
		}
	}
	if p.name == "sim" {
		m.shrunk, err = a.shrinkFor(p, m.kept.judged, property, runName(m.kept.judged.Plan))
	}
	return m, err
}

// first is the first run that violated one of the properties, and which; -1: none did.
func first(r *explore.Result, among []checker.Property) (run int, property checker.Property) {
	run = -1
	for _, p := range among {
		t := r.Outcomes[p]
		if n := t.First[checker.Violated]; t.Count[checker.Violated] > 0 && (run < 0 || n < run) {
			run, property = n, p
		}
	}
	return run, property
}

// matrixProgress shows how far a matrix is, on a terminal; timed, if the rest
// can be told from what is done.
func (a *app) matrixProgress(timed bool) func(explore.Far) {
	if !isTerminal(a.stderr) || a.quiet {
		return nil
	}
	start := time.Now()
	var shown time.Time
	return func(f explore.Far) {
		now := time.Now()
		if now.Sub(shown) < 100*time.Millisecond {
			return
		}
		shown = now
		io.WriteString(a.stderr, "\r"+matrixFar(f, now.Sub(start), timed)+"\x1b[K")
	}
}

func matrixFar(f explore.Far, took time.Duration, timed bool) string {
	rate := float64(f.Runs) / took.Seconds()
	words := fmt.Sprintf("%d of %s, %s runs, %.1f a second", f.CellsDone, plural(f.Cells, "cell"), thousands(f.Runs), rate)
	if timed && rate > 0 {
		words = fmt.Sprintf("%d of %s, %s runs, %.0f a second, about %.0f s left",
			f.CellsDone, plural(f.Cells, "cell"), thousands(f.Runs), rate, float64(f.Left)/rate)
	}
	return words
}
