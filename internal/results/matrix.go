package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Matrix has the fields that only documents of the command matrix have.
type Matrix struct {
	On      string         // the environment: sim or docker
	Lease   time.Duration  // with single servers
	Table   []string       // only of a shard: names of all cells in order, those of other shards included
	Absent  []MatrixNoCell // pairs of a lock and a fault that does not apply
	Left    int            // cells that did not start
	Trouble string         // why the environment did not do all cells; "": it did all
}

// Expectation has the expected verdicts of a lock under a fault, and the comparison
// with the runs of its cell.
type Expectation struct {
	Fault string // a fault, catalogue.NoFault, or a workload, in whose runs there is no fault
	catalogue.Expectation
	explore.Judgement
	Second checker.Second // verdicts that Porcupine judged as well, including those on the kept run
}

// MatrixName returns the name of a cell of the matrix.
func MatrixName(lock, fault string) string { return lock + " " + fault }

// MatrixCell returns a cell of the matrix with the result of its runs. whole reports
// whether all of its runs were done.
func MatrixCell(of *explore.Cell, r *explore.Result, whole bool) Cell {
	c := Cell{Name: MatrixName(of.Lock, of.Fault), Lock: of.Lock, On: of.On, Seed: of.Seed}
	c.Expected = &Expectation{Fault: of.Fault, Expectation: of.Expect, Judgement: of.Judge(r, whole), Second: r.Porcupine}
	c.Take(r)
	return c
}

// Standings are all standings, those that need a look first.
var Standings = []explore.Standing{explore.Unexpected, explore.Missing, explore.Unproven, explore.NotShown, explore.AsExpected}

// Does returns the fault of a cell of the matrix, and its workload if that is not the
// default.
func (e *Expectation) Does() (fault, workload string) {
	if _, ok := faults.Find(e.Fault); ok || e.Fault == catalogue.NoFault {
		return e.Fault, ""
	}
	return catalogue.NoFault, e.Fault
}

// judge compares the outcomes of the runs again with the expectation.
func (c *Cell) judge() {
	of := explore.Cell{Expect: c.Expected.Expectation}
	c.Expected.Judgement = of.Judge(c.Result(), !c.Expected.Cut)
}

// FoundCodes returns the codes that the runs show, but at most one of U and Uf. If
// grants do not say how long they last, the runs cannot tell these two apart: then it
// returns the one that is expected.
func (c *Cell) FoundCodes() (codes []catalogue.Code) {
	r, not := c.Result(), catalogue.LeaseOverlap
	if r.Outcome(checker.LeaseExclusion) == checker.NA && c.Expected.Names(not) {
		not = catalogue.Overlap
	}
	for _, k := range catalogue.Codes {
		if r.Found(k.Code) && (k.Code != not || !r.Found(catalogue.Overlap)) {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

// ShownCodes returns the codes of the cell in the table: those that are missing, or
// those that were found. Most faults cause slow hand-overs, so that code is shown only
// if it is the only one.
func (c *Cell) ShownCodes() []catalogue.Code {
	if s := c.Expected.Standing; s == explore.Missing || s == explore.NotShown {
		return c.Expected.Missing
	}
	list := c.FoundCodes()
	if n := len(list); n > 1 && list[n-1] == catalogue.Slow {
		list = list[:n-1]
	}
	return list
}

// HasMore reports whether there is an unexpected violation that the shown codes do not
// cover.
func (c *Cell) HasMore() bool {
	return c.Expected.Standing == explore.Unexpected && !slices.ContainsFunc(c.ShownCodes(), func(code catalogue.Code) bool {
		return slices.ContainsFunc(code.Properties(), func(p checker.Property) bool { return slices.Contains(c.Expected.Unexpected, p) })
	})
}

// First returns the property that the kept run of a cell of the matrix violates, and
// the number of that run from 0. It is the first run with an unexpected violation, or
// else the first with a required one. It returns -1 if there is no such run.
func (c *Cell) First() (run int, property checker.Property) {
	among := c.Expected.Unexpected
	if among == nil {
		for _, code := range c.Expected.Must {
			among = append(among, code.Properties()...)
		}
	}
	run = -1
	for _, prop := range among {
		p := c.Property(prop)
		if p == nil || !p.violated() {
			continue
		}
		if n := int(p.Runs[checker.Violated.String()].Seed - c.Seed); run < 0 || n < run {
			run, property = n, prop
		}
	}
	return run, property
}

// Example returns the kept run of a cell of the matrix, or nil.
func (c *Cell) Example() (x *Counterexample) {
	_, first := c.First()
	for _, p := range c.Properties {
		if p.Counterexample != nil && (x == nil || p.Property == first) {
			x = p.Counterexample
		}
	}
	return x
}

// Count returns how many cells of a matrix have a standing.
func (d *Document) Count(s explore.Standing) (n int) {
	for i := range d.Cells {
		if d.Cells[i].Expected.Standing == s {
			n++
		}
	}
	return n
}

// othersHaveAll reports whether all cells of a matrix belong to other shards.
func (d *Document) othersHaveAll() bool {
	m := d.Matrix
	return m.Trouble == "" && len(d.Cells) == 0 && m.Left == 0 && d.Shards != nil && len(m.Table) > 0
}

// decideMatrix does the work of Decide for a matrix.
func (d *Document) decideMatrix() {
	d.Runs = 0
	for i := range d.Cells {
		d.Cells[i].decide()
		d.Runs += d.Cells[i].Runs
	}
	lacks := d.Shards.Incomplete()
	open := lacks != "" || d.Interrupted || d.Matrix.Left > 0 || d.Count(explore.Unproven) > 0 || len(d.Cells) == 0
	d.Verdict, d.Reason = Held, ""
	switch {
	case d.othersHaveAll():
		d.Verdict, d.Reason = Elsewhere, "no cell falls to this shard"
	case d.Matrix.Trouble != "":
		d.Verdict, d.Reason = Unavailable, d.Matrix.Trouble
	case d.Count(explore.Unexpected)+d.Count(explore.Missing) > 0:
		d.Verdict = Violated
	case open:
		d.Verdict, d.Reason = Inconclusive, cmp.Or(lacks, strings.TrimSuffix(d.Sum(), "."))
	}
	d.ExitCode = d.Verdict.ExitCode()
	switch {
	case d.Interrupted:
		d.ExitCode = exit.Interrupted
	case d.Verdict == Elsewhere && lacks != "":
		d.ExitCode = Inconclusive.ExitCode()
	}
}

// Sum summarises a matrix in a sentence or two.
func (d *Document) Sum() string {
	var parts []string
	for _, s := range Standings {
		if n := d.Count(s); n > 0 {
			parts = append(parts, names.Thousands(n)+" "+strings.ReplaceAll(s.String(), "-", " "))
		}
	}
	slowly := d.Settings["holding"] == "true"
	hold, least, most := 0, 0, 0
	for i := range d.Cells {
		c := &d.Cells[i]
		if e := c.Expected; e.Standing == explore.AsExpected && (e.Holds() || slowly && e.HoldsSlowly()) {
			if hold == 0 || c.Runs < least {
				least = c.Runs
			}
			most = max(most, c.Runs)
			hold++
		}
	}
	words := fmt.Sprintf("%s: %s", names.Count(len(d.Cells), "cell"), strings.Join(parts, ", "))
	if d.othersHaveAll() {
		return "No cell falls to this shard."
	} else if len(d.Cells) == 0 {
		words = "No cell was begun"
	} else if n := d.Matrix.Left; n > 0 {
		words += "; " + names.NotBegun(n)
	}
	if hold > 0 {
		runs := names.Count(least, "run")
		if least < most {
			runs = names.Thousands(least) + " to " + names.Count(most, "run")
		}
		aside := ""
		if slowly {
			aside = ", a slow hand-over aside"
		}
		words += fmt.Sprintf(". %s must hold%s, and did, in %s each", names.Thousands(hold), aside, runs)
	}
	return words + fmt.Sprintf(". %s in %.1f s.", names.Count(d.Runs, "run"), d.Seconds)
}

// frame returns the part that all shards have in common: the cells, or for a matrix the
// names of its cells and the cells that do not apply.
func (d *Document) frame() (cells []Cell) {
	if d.Matrix == nil {
		return d.Cells
	}
	for _, name := range d.Matrix.Table {
		cells = append(cells, Cell{Name: name})
	}
	for _, n := range d.Matrix.Absent {
		cells = append(cells, Cell{Name: MatrixName(n.Lock, n.Fault), Verdict: NotApplicable, Reason: n.Reason})
	}
	return cells
}
