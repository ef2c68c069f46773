package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// matrixName is what the documents of a matrix name as their command.
const matrixName = "matrix"

// cellName is what shards know a cell of a matrix by.
func cellName(c *explore.Cell) string { return c.Lock + " " + c.Fault }

// shardOf are the cells that the shard does, each of them whole: when a cell ends
// depends on what its runs have shown.
func (m *matrixOutcome) shardOf(cells []*explore.Cell) (mine []*explore.Cell) {
	if m.head.Shards == nil {
		return cells
	}
	for _, c := range cells {
		m.table = append(m.table, cellName(c))
		if m.flags.shard.Has(cellName(c), m.flags.seed) {
			mine = append(mine, c)
		}
	}
	return mine
}

// writeMatrix leaves a matrix in a directory, with all that it takes to merge it.
func (a *app) writeMatrix(dir string, m *matrixOutcome) error {
	d := m.document()
	d.Table = m.table
	for i := range m.cells {
		c := &m.cells[i]
		d.Cells[i].Result = &results.Cell{Name: cellName(c.Cell), Lock: c.Lock, On: m.place, Seed: c.Seed}
		d.Cells[i].Result.Take(c.result)
	}
	d.relocate(results.Into(dir))
	if err := rundir.WriteJSON(filepath.Join(dir, results.File), d); err != nil {
		return unwritable(err)
	}
	return nil
}

// relocate says where files are now.
func (d *matrixDocument) relocate(now results.Move) {
	for i := range d.Cells {
		now.Files(&d.Cells[i].File, &d.Cells[i].Shrunk)
	}
}

// validate says which field of a cell cannot be, and what it has to be; nil: all
// can. Of the rest the results package has said it.
func (d *matrixDocument) validate() error {
	var names []string
	for _, s := range standings {
		names = append(names, s.standing.String())
	}
	if err := results.NotNegative("", map[string]int{"not_begun": d.Left}); err != nil {
		return err
	}
	todo := map[string]bool{} // the cells of the table that are not there yet
	for i, name := range d.Table {
		if todo[name] {
			return fmt.Errorf("table[%d] is %q, as another cell", i, name)
		}
		todo[name] = true
	}
	for i := range d.Cells {
		c, at := &d.Cells[i], fmt.Sprintf("cells[%d].", i)
		err := results.OneOf(at+"outcome", c.Outcome, names)
		if err = cmp.Or(err, results.NotNegative(at, map[string]int{"runs": c.Runs, "grants": c.Grants, "hits": c.Hits})); err != nil {
			return err
		}
		if c.Result == nil {
			return fmt.Errorf("%sresult is not there: only what --shard or merge left can be merged", at)
		}
		if err := c.Result.Validate(at + "result."); err != nil {
			return err
		}
		if name := c.name(); !todo[name] {
			return fmt.Errorf("%slock and fault are %q, which is not in the table, or there twice", at, name)
		} else {
			todo[name] = false
		}
	}
	return nil
}

// name is what shards know the cell by.
func (c *matrixCellDocument) name() string { return c.Lock + " " + cmp.Or(c.Workload, c.Fault) }

// frame is what all shards say alike: which cells there are, and which there are not.
func (d *matrixDocument) frame() (cells []results.Cell) {
	for _, name := range d.Table {
		cells = append(cells, results.Cell{Name: name})
	}
	for _, n := range d.Absent {
		cells = append(cells, results.Cell{Name: n.Lock + " " + n.Fault, Verdict: results.NotApplicable, Reason: n.Reason})
	}
	return cells
}

// essence is what two results of one shard have in common, as text.
func (d *matrixDocument) essence() string {
	c := *d
	c.Shards, c.Seconds, c.Cells = nil, 0, slices.Clone(d.Cells)
	c.relocate(func(string) string { return "" })
	for i := range c.Cells {
		if c.Cells[i].Result != nil {
			of := *c.Cells[i].Result
			of.Seconds, c.Cells[i].Result = 0, &of
		}
	}
	text, _ := json.Marshal(c) // of our own types none fails
	return string(text)
}

// unexpected are the violations that nobody expected, as people read them.
func (d *matrixDocument) unexpected() (list []string) {
	for _, c := range d.Cells {
		for _, f := range c.Found {
			if !f.Expected {
				list = append(list, f.Property+" in "+c.Lock+" under "+cmp.Or(c.Workload, c.Fault))
			}
		}
	}
	return list
}

// takeEarlierCells adds to the matrix of a shard what nobody expected and only an
// earlier try found.
func (a *app) takeEarlierCells(m *matrixOutcome) {
	if a.earlier == nil {
		return
	}
	var taken []string
	for _, was := range outcomeOf(a.earlier.matrix).cells {
		c := m.cell(was.Lock, was.Fault)
		var only []checker.Property
		for _, p := range was.Unexpected {
			if c == nil || !slices.Contains(c.Unexpected, p) {
				only = append(only, p)
				taken = append(taken, string(p)+" in "+was.Lock+" under "+was.Fault)
			}
		}
		switch {
		case only == nil:
		case c == nil:
			m.cells = append(m.cells, was)
			m.left--
		default:
			for _, p := range only {
				c.result.Outcomes[p] = was.result.Outcomes[p]
			}
			if c.Judgement = c.Judge(c.result, !c.Cut); c.kept.dir == "" {
				c.kept, c.shrunk, c.sentence = was.kept, was.shrunk, was.sentence
			}
		}
	}
	if taken != nil {
		a.sayTaken(taken)
	}
}

// mergeMatrix joins the cells of shards in the order of the table.
func (a *app) mergeMatrix(found, parts []*foundResult, shards *results.Shards, markdown bool, out string) error {
	m := outcomeOf(parts[0].matrix)
	m.head.Shards, m.cells, m.flags.markdown = shards, nil, markdown
	m.head.Interrupted = m.head.Interrupted && shards == nil // of shards it is said which
	m.took = 0
	by := map[string]matrixCell{}
	for _, p := range parts {
		if p.matrix.Verdict == results.Unavailable {
			m.trouble = cmp.Or(m.trouble, fail(noPlace, "%s", p.matrix.Reason))
		}
		o := outcomeOf(p.matrix)
		m.took += o.took
		for _, c := range o.cells {
			if was, twice := by[cellName(c.Cell)]; !twice || was.Cut {
				by[cellName(c.Cell)] = c
			}
		}
	}
	for _, name := range m.table {
		if c, ok := by[name]; ok {
			m.cells = append(m.cells, c)
		}
	}
	m.left = len(m.table) - len(m.cells)
	if out != "" {
		unwritten := a.collectMatrix(m, found, out)
		if unwritten == nil {
			unwritten = a.writeMatrix(out, m)
		}
		m.trouble = cmp.Or(unwritten, m.trouble)
	}
	if err := a.show(m); err != nil {
		return err
	}
	if !markdown {
		a.printf("\n")
		a.mergedLines(shards)
	}
	if m.trouble != nil {
		return m.trouble
	}
	return exit(m.document().ExitCode)
}

// collectMatrix copies the files that a matrix names to a directory.
func (a *app) collectMatrix(m *matrixOutcome, found []*foundResult, out string) error {
	c := newCollector(found, out)
	for i := range m.cells {
		for _, dir := range []*string{&m.cells[i].kept.dir, &m.cells[i].shrunk.dir} {
			if *dir == "" {
				continue
			}
			if err := c.copy(filepath.Join(*dir, historyFile)); err != nil {
				return err
			}
			*dir = c.to[*dir]
		}
	}
	a.sayLost(c)
	return nil
}

// outcomeOf is the matrix that a result.json was written of.
func outcomeOf(d *matrixDocument) *matrixOutcome {
	m := &matrixOutcome{
		place: d.On, lease: time.Duration(d.LeaseMS) * time.Millisecond, left: d.Left, head: d.Head, table: d.Table,
		took: time.Duration(d.Seconds * float64(time.Second)),
	}
	m.flags.seed, m.flags.holding = d.Seed, d.Settings["holding"] == "true"
	m.flags.place.lease, _ = time.ParseDuration(d.Settings["lease"])
	for _, n := range d.Absent {
		m.absent = append(m.absent, noCell{n.Lock, n.Fault, reason(n.Reason)})
	}
	for i := range d.Cells {
		m.cells = append(m.cells, cellOf(&d.Cells[i], d.Seed))
	}
	return m
}

// cellOf is the cell that a document has.
func cellOf(d *matrixCellDocument, seed uint64) matrixCell {
	c := matrixCell{Cell: &explore.Cell{Fault: d.Fault}, result: explore.NewResult(), sentence: d.Sentence}
	c.Lock, c.Settings.Seed = d.Lock, seed
	if d.Workload != "" {
		c.Fault = d.Workload
	}
	c.Expect = catalogue.Expectation{Codes: d.Expected, Must: d.Must, Why: d.Why}
	for _, p := range d.May {
		c.Expect.May = append(c.Expect.May, checker.Property(p))
	}
	c.Reason, c.Missing, c.Cut = d.Reason, d.Missing, d.Cut
	for _, s := range standings {
		if s.standing.String() == d.Outcome {
			c.Standing = s.standing
		}
	}
	for _, f := range d.Found {
		if !f.Expected {
			c.Unexpected = append(c.Unexpected, checker.Property(f.Property))
		}
	}
	if d.Result != nil {
		c.result = d.Result.Result()
	}
	if d.File != "" {
		c.kept.dir = filepath.Dir(d.File)
	}
	if d.Shrunk != "" {
		c.shrunk.dir = filepath.Dir(d.Shrunk)
	}
	return c
}

// reason is a text that a document has, where an error was.
type reason string

func (r reason) Error() string { return string(r) }
