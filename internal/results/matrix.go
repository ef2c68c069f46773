package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Matrix is what a document of the command matrix has beside its cells.
type Matrix struct {
	On      string         // the environment: sim or docker
	Lease   time.Duration  // on single servers
	Table   []string       // names of all cells, in order, those of other shards included; only of a shard
	Absent  []MatrixNoCell // locks and faults that do not go together
	Left    int            // cells that were not begun
	Trouble string         // why the environment did not do all cells; "": it did
}

// Expectation is what is known of a lock under a fault, and how the runs of its cell
// compare with that.
type Expectation struct {
	Fault string // or catalogue.NoFault, or the name of a workload, in whose runs there is no fault
	catalogue.Expectation
	explore.Judgement
	Second checker.Second // verdicts that Porcupine judged as well, those of the kept run included
}

// MatrixName returns the name of a cell of the matrix.
func MatrixName(lock, fault string) string { return lock + " " + fault }

// MatrixCell returns a cell of the matrix with the result of its runs. whole says whether
// all of them were done.
func MatrixCell(of *explore.Cell, r *explore.Result, whole bool) Cell {
	c := Cell{Name: MatrixName(of.Lock, of.Fault), Lock: of.Lock, On: of.On, Seed: of.Seed}
	c.Expected = &Expectation{Fault: of.Fault, Expectation: of.Expect, Judgement: of.Judge(r, whole), Second: r.Porcupine}
	c.Take(r)
	return c
}

// Standings are all standings, the ones that need a look first.
var Standings = []explore.Standing{explore.Unexpected, explore.Missing, explore.Unproven, explore.NotShown, explore.AsExpected}

// Does returns the fault of a cell of the matrix, and its workload if that is not the
// usual one.
func (e *Expectation) Does() (fault, workload string) {
	if _, ok := faults.Find(e.Fault); ok || e.Fault == catalogue.NoFault {
		return e.Fault, ""
	}
	return catalogue.NoFault, e.Fault
}

// judge compares again what came of the runs with what is expected.
func (c *Cell) judge() {
	of := explore.Cell{Expect: c.Expected.Expectation}
	c.Expected.Judgement = of.Judge(c.Result(), !c.Expected.Cut)
}

// FoundCodes returns the codes that the runs show, of U and Uf one. Where no grant says
// how long it lasts the runs cannot tell these two apart: there it is Uf if that is
// expected.
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

// ShownCodes returns the codes of the cell in the table: those that are missing, or that
// were found. A slow hand-over, which most faults bring, is there only where nothing
// else is.
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

// HasMore reports whether something was not expected that the codes shown leave out.
func (c *Cell) HasMore() bool {
	return c.Expected.Standing == explore.Unexpected && !slices.ContainsFunc(c.ShownCodes(), func(code catalogue.Code) bool {
		return slices.ContainsFunc(code.Properties(), func(p checker.Property) bool { return slices.Contains(c.Expected.Unexpected, p) })
	})
}

// First returns the property that the kept run of a cell of the matrix violates, and the
// number of that run, from 0: the first that violated what is not expected, or else what
// has to be found. It returns -1 if no run did.
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
		if p == nil || p.outcome() != checker.Violated {
			continue
		}
		if n := int(p.Runs[checker.Violated.String()].Seed - c.Seed); run < 0 || n < run {
			run, property = n, prop
		}
	}
	return run, property
}

// Example returns the run of a cell of the matrix that was kept, or nil.
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

// othersHaveAll reports whether all cells of a matrix are those of other shards.
func (d *Document) othersHaveAll() bool {
	m := d.Matrix
	return m.Trouble == "" && len(d.Cells) == 0 && m.Left == 0 && d.Shards != nil && len(m.Table) > 0
}

// decideMatrix is Decide for a matrix.
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
		d.ExitCode = 130
	case d.Verdict == Elsewhere && lacks != "":
		d.ExitCode = Inconclusive.ExitCode()
	}
}

// Sum returns a matrix in a sentence or two.
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

// frame returns what all shards have in common: the cells, or of a matrix the names of
// its cells and the cells that do not apply.
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
