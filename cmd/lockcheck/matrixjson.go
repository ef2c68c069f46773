package main

import (
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
)

// matrixDocument is what matrix prints with --json.
type matrixDocument struct {
	Schema  int                  `json:"schema"`
	On      string               `json:"on"`
	LeaseMS int64                `json:"lease_ms"`
	Seed    uint64               `json:"seed"`
	Runs    int                  `json:"runs"`
	Seconds float64              `json:"seconds"`
	Cells   []matrixCellDocument `json:"cells"`
	Absent  []matrixNoCell       `json:"not_applicable,omitempty"`
	Left    int                  `json:"not_begun,omitempty"` // cells, when it was interrupted
}

// matrixNoCell is a lock and a fault that does not apply to it.
type matrixNoCell struct {
	Lock   string `json:"lock"`
	Fault  string `json:"fault"`
	Reason string `json:"reason"`
}

type matrixCellDocument struct {
	Lock     string           `json:"lock"`
	Fault    string           `json:"fault"`
	Workload string           `json:"workload,omitempty"` // of one in which clients misuse the lock
	Expected string           `json:"expected"`           // codes
	Must     []catalogue.Code `json:"must"`
	May      []string         `json:"may"` // properties
	Why      string           `json:"why,omitempty"`
	Outcome  string           `json:"outcome"`
	Reason   string           `json:"reason,omitempty"`
	Codes    []catalogue.Code `json:"codes"` // that were found
	Found    []matrixFound    `json:"found"`
	Missing  []catalogue.Code `json:"missing,omitempty"`
	Runs     int              `json:"runs"`
	Grants   int              `json:"grants"`
	Hits     int              `json:"hits"` // faults that touched somebody
	File     string           `json:"file,omitempty"`
	Shrunk   string           `json:"shrunk,omitempty"` // the history of the same, shrunk
}

// matrixFound is one property that was violated.
type matrixFound struct {
	Property string `json:"property"`
	Seed     uint64 `json:"seed"`  // the first
	First    int    `json:"first"` // the run with that seed, from 1
	Runs     int    `json:"runs"`  // that violated it
	Expected bool   `json:"expected"`
}

func (m *matrixOutcome) document() matrixDocument {
	d := matrixDocument{
		Schema: 1, On: m.place, LeaseMS: m.lease.Milliseconds(), Seed: m.flags.seed,
		Runs: m.runs(), Seconds: m.took.Seconds(), Cells: []matrixCellDocument{}, Left: m.left,
	}
	for _, n := range m.absent {
		d.Absent = append(d.Absent, matrixNoCell{n.lock, n.fault, n.reason.Error()})
	}
	for i := range m.cells {
		c := &m.cells[i]
		fault, workload := c.does()
		cell := matrixCellDocument{
			Lock: c.Lock, Fault: fault, Workload: workload, Expected: c.Expect.Codes, Why: c.Expect.Why,
			Must: append([]catalogue.Code{}, c.Expect.Must...), May: []string{},
			Outcome: c.Standing.String(), Reason: c.Reason, Missing: c.Missing,
			Codes: append([]catalogue.Code{}, c.found()...), Found: []matrixFound{}, Runs: c.result.Runs,
			Grants: c.result.Reached[checker.Grants], Hits: c.result.Reached[checker.FaultTouched],
		}
		if c.kept.dir != "" {
			cell.File = filepath.Join(c.kept.dir, historyFile)
			if c.shrunk.dir != "" {
				cell.Shrunk = filepath.Join(c.shrunk.dir, historyFile)
			}
		}
		for _, p := range c.Expect.May {
			cell.May = append(cell.May, string(p))
		}
		for _, p := range checker.Properties {
			if t := c.result.Outcomes[p]; t.Count[checker.Violated] > 0 {
				first := t.First[checker.Violated]
				cell.Found = append(cell.Found, matrixFound{
					Property: string(p), Seed: c.seed(first), First: first + 1, Runs: t.Count[checker.Violated],
					Expected: slices.Contains(c.Expect.May, p),
				})
			}
		}
		d.Cells = append(d.Cells, cell)
	}
	return d
}
