package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// MatrixDocument is what matrix prints with --json.
type MatrixDocument struct {
	Head
	On      string               `json:"on"`                       // the environment: sim or docker
	LeaseMS int64                `json:"lease_ms"`                 // T, the lease or session time-out, in ms
	Seed    uint64               `json:"seed"`                     // first seed of every cell
	Runs    int                  `json:"runs"`                     // runs in all cells
	Cells   []MatrixCellDocument `json:"cells"`                    // each lock under each fault, and workload, that was tried
	Absent  []MatrixNoCell       `json:"not_applicable,omitempty"` // faults that do not apply to a lock
	Left    int                  `json:"not_begun,omitempty"`      // cells that were not tried, because of an interrupt or missing shards
	Table   []string             `json:"table,omitempty"`          // in result.json: the names of all cells, in their order
}

// MatrixNoCell is a lock and a fault that does not apply to it.
type MatrixNoCell struct {
	Lock   string `json:"lock"`   // the lock
	Fault  string `json:"fault"`  // the fault
	Reason string `json:"reason"` // why it cannot strike that lock, or not in that environment
}

// MatrixCellDocument has the expected violations of a lock under a fault, and those that were found.
type MatrixCellDocument struct {
	Lock     string           `json:"lock"`               // the lock under test
	Fault    string           `json:"fault"`              // the fault in every run, or none
	Workload string           `json:"workload,omitempty"` // how clients misuse the lock, if they do
	Expected string           `json:"expected"`           // expected violations, as codes; ? is after a code that may be found
	Must     []catalogue.Code `json:"must"`               // codes that must be found
	May      []string         `json:"may"`                // properties that may be violated
	Why      string           `json:"why,omitempty"`      // the reason for the expectation
	Outcome  string           `json:"outcome"`            // as-expected, unexpected (another violation was found), missing (an expected violation was not found), not-shown (missing, in too little time) or unproven
	Reason   string           `json:"reason,omitempty"`   // why the outcome is not as-expected
	Codes    []catalogue.Code `json:"codes"`              // codes that were found
	Found    []MatrixFound    `json:"found"`              // properties that were violated
	Missing  []catalogue.Code `json:"missing,omitempty"`  // codes that must be found and were not
	Runs     int              `json:"runs"`               // runs that were done
	Grants   int              `json:"grants"`             // how often a client was granted the lock
	Hits     int              `json:"hits"`               // faults that had an effect
	File     string           `json:"file,omitempty"`     // history of the run that was kept
	Shrunk   string           `json:"shrunk,omitempty"`   // history of the shortest run that shows the same
	Sentence string           `json:"sentence,omitempty"` // the violation in that run, in one sentence
	// Porcupine counts the verdicts that it judged as well: those on one run of 128, on
	// docker on all, and on the run that was kept.
	Porcupine *checker.Second `json:"porcupine,omitempty"`
	Cut       bool            `json:"interrupted,omitempty"` // it ended before all its runs were done
	Result    *Cell           `json:"result,omitempty"`      // in result.json: all results of its runs
}

// MatrixFound is one property that was violated.
type MatrixFound struct {
	Property string `json:"property"` // the violated property
	Seed     uint64 `json:"seed"`     // seed of the first run that violated it
	First    int    `json:"first"`    // number of that run, from 1
	Runs     int    `json:"runs"`     // runs that violated it
	Expected bool   `json:"expected"` // whether it must or may be found
}

// Printed returns the value that a command prints with --json. For a matrix that is
// without the fields of result.json.
func (d *Document) Printed() any {
	if d.Matrix == nil {
		return d
	}
	m := d.matrixDocument()
	m.Table = nil
	for i := range m.Cells {
		m.Cells[i].Result = nil
	}
	return m
}

// MarshalJSON returns the document in the form of result.json. A matrix has a form of
// its own.
func (d Document) MarshalJSON() ([]byte, error) {
	type plain Document
	var doc any = plain(d)
	if d.Matrix != nil {
		doc = d.matrixDocument()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the caller decides about escaping
	err := e.Encode(doc)
	return b.Bytes(), err
}

// UnmarshalJSON reads a document in the form that MarshalJSON writes.
func (d *Document) UnmarshalJSON(text []byte) error {
	var of struct{ Command string }
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	if of.Command != matrixCommand {
		type plain Document
		return json.Unmarshal(text, (*plain)(d))
	}
	var m MatrixDocument
	err := json.Unmarshal(text, &m)
	*d = m.document()
	return err
}

func (d *Document) matrixDocument() *MatrixDocument {
	m := &MatrixDocument{
		Head: d.Head, On: d.Matrix.On, LeaseMS: d.Matrix.Lease.Milliseconds(), Seed: d.Seed, Runs: d.Runs,
		Cells: []MatrixCellDocument{}, Absent: d.Matrix.Absent, Left: d.Matrix.Left, Table: d.Matrix.Table,
	}
	for i := range d.Cells {
		m.Cells = append(m.Cells, d.Cells[i].matrixCell())
	}
	return m
}

func (c *Cell) matrixCell() MatrixCellDocument {
	e, reached := c.Expected, checker.CountsOf(c.Reached)
	m := MatrixCellDocument{
		Lock: c.Lock, Expected: e.Codes, Must: append([]catalogue.Code{}, e.Must...), May: append([]string{}, checker.Promise(e.May).Strings()...), Why: e.Why,
		Outcome: e.Standing.String(), Reason: e.Reason, Missing: e.Missing, Cut: e.Cut,
		Codes: append([]catalogue.Code{}, c.FoundCodes()...), Found: []MatrixFound{}, Runs: c.Runs,
		Grants: reached[checker.Grants], Hits: reached[checker.FaultTouched],
	}
	m.Fault, m.Workload = e.Does()
	if x := c.Example(); x != nil {
		m.File, m.Shrunk, m.Sentence = x.File, x.Shrunk, x.Sentence
	}
	if e.Second.Total() > 0 {
		m.Porcupine = &e.Second
	}
	of := *c
	of.Properties = slices.Clone(c.Properties)
	for i := range of.Properties {
		p := &of.Properties[i]
		p.Counterexample = nil // the counterexample belongs to the cell
		if t := p.Runs[checker.Violated.String()]; t.Count > 0 {
			m.Found = append(m.Found, MatrixFound{
				Property: string(p.Property), Seed: t.Seed, First: int(t.Seed-c.Seed) + 1, Runs: t.Count,
				Expected: slices.Contains(e.May, p.Property),
			})
		}
	}
	m.Result = &of
	return m
}

func (m *MatrixDocument) document() Document {
	d := Document{Head: m.Head, Seed: m.Seed, Runs: m.Runs, Matrix: &Matrix{
		On: m.On, Lease: time.Duration(m.LeaseMS) * time.Millisecond, Table: m.Table, Absent: m.Absent, Left: m.Left,
	}}
	if m.Verdict == Unavailable {
		d.Matrix.Trouble = m.Reason
	}
	if m.Cells != nil {
		d.Cells = []Cell{}
	}
	for i := range m.Cells {
		d.Cells = append(d.Cells, m.Cells[i].cell())
	}
	return d
}

func (m *MatrixCellDocument) cell() (c Cell) {
	if m.Result != nil {
		c = *m.Result
	}
	e := &Expectation{Fault: cmp.Or(m.Workload, m.Fault)}
	c.Name, c.Lock, c.Expected = MatrixName(m.Lock, e.Fault), m.Lock, e
	e.Codes, e.Must, e.Why = m.Expected, m.Must, m.Why
	for _, p := range m.May {
		e.May = append(e.May, checker.Property(p))
	}
	e.Reason, e.Missing, e.Cut = m.Reason, m.Missing, m.Cut
	for _, s := range Standings {
		if s.String() == m.Outcome {
			e.Standing = s
		}
	}
	for _, f := range m.Found {
		if !f.Expected {
			e.Unexpected = append(e.Unexpected, checker.Property(f.Property))
		}
	}
	if m.Porcupine != nil {
		e.Second = *m.Porcupine
	}
	if run, prop := c.First(); run >= 0 && m.File+m.Sentence != "" {
		c.Property(prop).Counterexample = &Counterexample{Seed: c.Seed + uint64(run), File: m.File, Shrunk: m.Shrunk, Sentence: m.Sentence}
	}
	return c
}

// validate returns an error for the first invalid field. Head has been checked already.
func (m *MatrixDocument) validate() error {
	if err := NotNegative("", map[string]int{"not_begun": m.Left}); err != nil {
		return err
	}
	todo := map[string]bool{} // cells of the table that are not there yet
	for i, name := range m.Table {
		if todo[name] {
			return fmt.Errorf("table[%d] is %q, as another cell", i, name)
		}
		todo[name] = true
	}
	var outcomes []string
	for _, s := range Standings {
		outcomes = append(outcomes, s.String())
	}
	for i := range m.Cells {
		c, at := &m.Cells[i], fmt.Sprintf("cells[%d].", i)
		err := OneOf(at+"outcome", c.Outcome, outcomes)
		if err = cmp.Or(err, NotNegative(at, map[string]int{"runs": c.Runs, "grants": c.Grants, "hits": c.Hits})); err != nil {
			return err
		}
		if c.Result == nil {
			continue // a printed cell has no result
		}
		if err := c.Result.Validate(at + "result."); err != nil {
			return err
		}
		if name := MatrixName(c.Lock, cmp.Or(c.Workload, c.Fault)); !todo[name] {
			return fmt.Errorf("%slock and fault are %q, which is not in the table, or there twice", at, name)
		} else {
			todo[name] = false
		}
	}
	return nil
}
