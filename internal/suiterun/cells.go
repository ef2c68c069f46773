package suiterun

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/workloads"
)

// suiteCell is an entry of a suite under one fault.
type suiteCell struct {
	name     string
	line     int // of its entry
	runner   *batch.Runner
	settings explore.Settings
	promise  checker.Promise
	absent   error // why the cell does not exist; nil: it does
	trouble  error // why the environment did not do all runs; nil: it did
	lacks    bool  // some of its runs were skipped although their turn came
	cut      string
	result   *explore.Result

	// elsewhere means that the environment is not available and that only other shards
	// have runs in this cell.
	elsewhere bool
}

// broken reports whether the runs so far have broken the promise.
func (c *suiteCell) broken() bool { return c.promise.Judge(c.result.Outcome) == checker.Violated }

// document returns the cell for the result, when its runs are done.
func (c *suiteCell) document(e *batch.Explored) results.Cell {
	cell := e.Cell(c.name, c.trouble)
	cell.Line, cell.Cut = c.line, c.cut
	if c.absent != nil {
		cell.Verdict, cell.Reason = results.NotApplicable, c.absent.Error()
	}
	return cell
}

// suiteCells returns the cells of a suite in the order of the file. If entries do not
// fit this machine the error is suite.Problems. An unavailable environment is the
// trouble of its cells, not an error.
func (run *Run) suiteCells(ctx context.Context, s *suite.Suite) (cells []*suiteCell, err error) {
	dirs := map[string]bool{}
	gone, said := map[string]error{}, map[string]bool{} // unavailable environments
	var wrong suite.Problems
	for i := range s.Locks {
		e := &s.Locks[i]
		under := rundir.Unique(dirs, rundir.Slug(e.Called()+" on "+e.Place()))
		flags, kinds, err := run.entry(s, e)
		if err != nil {
			wrong = append(wrong, e.Wrong(err))
			continue
		}
		for _, k := range kinds {
			c := &suiteCell{line: e.Line, promise: e.Promises, result: explore.NewResult()}
			if err := run.describe(c, e, flags, k); err != nil {
				wrong = append(wrong, e.Wrong(err))
				break
			}
			c.runner = run.Unopened(flags.Environment.On)
			on := fmt.Sprint(flags.Environment.On, " ", e.Servers) // the servers of each entry on external are others
			if c.absent == nil && gone[on] == nil {
				p, err := run.Open(ctx, flags.Environment)
				switch {
				case exit.Code(err) == exit.Unavailable:
					gone[on] = err
				case err != nil:
					wrong = append(wrong, e.Wrong(err))
				default:
					p.Under, c.runner = under, p
				}
			}
			c.runner.Fill(&c.settings)
			switch err := gone[on]; {
			case err == nil:
			case !batch.Concerned(&c.settings):
				c.elsewhere = true
			default:
				if c.trouble = err; !said[on] {
					run.Complain(err)
				}
				said[on] = true
			}
			cells = append(cells, c)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return cells, nil
}

// entry returns the settings of an entry as flags, and the kinds of faults for each of
// its cells.
func (run *Run) entry(s *suite.Suite, e *suite.Entry) (r ask.Batch, cells [][]faults.Fault, err error) {
	f := &run.Flags
	r = ask.Batch{
		Environment: ask.Environment{On: e.Place(), Lease: time.Duration(e.Lease), Servers: &e.Servers},
		Faults:      e.Faults, Workloads: e.Workloads, Count: e.FaultsPerRun, Mixed: e.Mix, Promises: e.Promises.Strings(),
		Seed: f.SeedOf(s), Runs: cmp.Or(f.Runs, e.Runs, s.Runs), Jobs: f.Jobs, Shard: f.Shard,
		Clients: e.Clients, Acquires: e.Acquires, Fencing: e.Fencing, Options: strings.Join(e.Options, ","),
		Strategy: cmp.Or(e.Strategy, ask.Strategies[0]), Depth: e.Depth, Worker: e.Worker, Store: e.Store,
	}
	if len(r.Faults) == 0 {
		r.Faults = []string{"all"}
	}
	if len(r.Workloads) == 0 {
		r.Workloads = []string{workloads.AsUsual}
	}
	if slices.Contains(r.Faults, names.None) { // next to other faults it has a cell of its own
		r.Faults = slices.DeleteFunc(slices.Clone(r.Faults), func(name string) bool { return name == names.None })
		if cells = append(cells, nil); len(r.Faults) == 0 {
			r.Faults = []string{names.None}
			return r, cells, nil
		}
	}
	kinds, err := ask.Faults(r.Faults)
	switch {
	case err != nil:
		return r, nil, err
	case r.Mixed:
		return r, append(cells, kinds), nil
	}
	for _, k := range kinds {
		cells = append(cells, []faults.Fault{k})
	}
	lock, _ := e.Tested()
	at := run.Unopened(r.Environment.On)
	cells = slices.DeleteFunc(cells, func(k []faults.Fault) bool {
		return len(k) > 0 && !slices.Contains(r.Faults, k[0].Name) && refuses(at, &lock, e, k[0]) != nil
	})
	if len(cells) == 0 {
		return r, nil, fmt.Errorf("none of these faults applies to it on %s: %s", at.Name(), strings.Join(r.Faults, ", "))
	}
	return r, cells, nil
}

// refuses returns the reason why a fault cannot strike the lock of an entry here, or nil.
func refuses(p batch.Description, lock *catalogue.Lock, e *suite.Entry, k faults.Fault) error {
	return cmp.Or(k.Available(batch.Offers(p.Name(), e.Worker == "")), lock.Applies(k, catalogue.Server{}), p.Strikes(lock, k))
}

// describe sets the name and the settings of a cell with these kinds of faults.
func (run *Run) describe(c *suiteCell, e *suite.Entry, flags ask.Batch, kinds []faults.Fault) error {
	settings, _, err := flags.Settings(func(flag string) bool {
		return flag == "seed" || flag == "depth" && e.Depth != 0
	})
	if err != nil {
		return err
	}
	lock, _ := e.Tested()
	at, fault := run.Unopened(flags.Environment.On), catalogue.NoFault
	settings.Kinds = nil
	for _, k := range kinds {
		fault = k.Name
		if err := refuses(at, &lock, e, k); err != nil {
			c.absent = cmp.Or(c.absent, err)
			continue
		}
		settings.Kinds = append(settings.Kinds, k)
	}
	if settings.Kinds != nil {
		c.absent = nil // the other faults of a mix remain
	} else {
		settings.Kinds = kinds
	}
	if len(kinds) > 1 {
		fault = "a mix"
	}
	c.name = fmt.Sprintf("%s on %s: %s", e.Called(), at.Name(), fault)
	settings.Lock, settings.Cell = cmp.Or(e.Lock, e.Called()), c.name
	if e.Worker == "" {
		settings.Options = ask.Fenced(e.Lock, settings.Options, settings.Fencing)
		if err := ask.Fits(e.Lock, settings.Options); err != nil {
			return err
		}
		if settings.Workloads, err = ask.ApplicableWorkloads(run.Say, e.Lock, settings.Workloads, flags.Workloads); err != nil {
			return err
		}
	}
	settings.CellSettings = cellSettings(at, e, settings)
	c.settings = settings
	return nil
}

// SeedOf returns the first seed of every cell.
func (f Flags) SeedOf(s *suite.Suite) uint64 {
	if f.Given("seed") {
		return f.Seed
	}
	return s.Seed
}
