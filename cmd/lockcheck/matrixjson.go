package main

import (
	"path/filepath"
	"slices"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/results"
)

// matrixDocument is what matrix prints with --json.
type matrixDocument struct {
	results.Head
	On      string               `json:"on"`                       // the place: sim or docker
	LeaseMS int64                `json:"lease_ms"`                 // T, the lease or session time-out, in ms
	Seed    uint64               `json:"seed"`                     // first seed of every cell
	Runs    int                  `json:"runs"`                     // runs in all cells
	Cells   []matrixCellDocument `json:"cells"`                    // each lock under each fault, and workload, that was tried
	Absent  []matrixNoCell       `json:"not_applicable,omitempty"` // locks and faults that do not go together
	Left    int                  `json:"not_begun,omitempty"`      // cells that were not tried, as it was interrupted or parts are missing
	Table   []string             `json:"table,omitempty"`          // in result.json: the names of all cells, in their order
}

// matrixNoCell is a lock and a fault that does not apply to it.
type matrixNoCell struct {
	Lock   string `json:"lock"`   // the lock
	Fault  string `json:"fault"`  // the fault
	Reason string `json:"reason"` // why it cannot strike that lock, or not at that place
}

// matrixCellDocument is what is known of a lock under a fault, and what was found.
type matrixCellDocument struct {
	Lock     string           `json:"lock"`               // the lock under test
	Fault    string           `json:"fault"`              // the fault in every run, or none
	Workload string           `json:"workload,omitempty"` // how clients misuse the lock, where they do
	Expected string           `json:"expected"`           // what is known of it, in codes; ? is before what may be found
	Must     []catalogue.Code `json:"must"`               // codes of what must be found
	May      []string         `json:"may"`                // properties that may be violated
	Why      string           `json:"why,omitempty"`      // why that is known
	Outcome  string           `json:"outcome"`            // as-expected, unexpected (something else was found), missing (something was not found), not-shown (missing, in too little time) or unproven
	Reason   string           `json:"reason,omitempty"`   // why the outcome is not as-expected
	Codes    []catalogue.Code `json:"codes"`              // codes of what was found
	Found    []matrixFound    `json:"found"`              // properties that were violated
	Missing  []catalogue.Code `json:"missing,omitempty"`  // codes of what must be found and was not
	Runs     int              `json:"runs"`               // runs that were done
	Grants   int              `json:"grants"`             // how often a client was granted the lock
	Hits     int              `json:"hits"`               // faults that touched somebody
	File     string           `json:"file,omitempty"`     // history of the run that was kept
	Shrunk   string           `json:"shrunk,omitempty"`   // history of the shortest run that shows the same
	Sentence string           `json:"sentence,omitempty"` // what happened in that run, in one sentence
	// Porcupine counts the verdicts that it judged as well: those on one run of 128, on
	// docker on all, and on the run that was kept.
	Porcupine *checker.Second `json:"porcupine,omitempty"`
	Cut       bool            `json:"interrupted,omitempty"` // it ended before all its runs were done
	Result    *results.Cell   `json:"result,omitempty"`      // in result.json: all that its runs came to
}

// matrixFound is one property that was violated.
type matrixFound struct {
	Property string `json:"property"` // what was violated
	Seed     uint64 `json:"seed"`     // seed of the first run that violated it
	First    int    `json:"first"`    // number of that run, from 1
	Runs     int    `json:"runs"`     // runs that violated it
	Expected bool   `json:"expected"` // whether it must or may be found
}

func (m *matrixOutcome) document() matrixDocument {
	d := matrixDocument{
		Head: m.head, On: m.place, LeaseMS: m.lease.Milliseconds(), Seed: m.flags.seed,
		Runs: m.runs(), Cells: []matrixCellDocument{}, Left: m.left,
	}
	d.Seconds = m.took.Seconds()
	if d.Verdict, d.ExitCode, d.Reason = m.verdict(); d.Interrupted {
		d.ExitCode = interrupted
	}
	for _, n := range m.absent {
		d.Absent = append(d.Absent, matrixNoCell{n.lock, n.fault, n.reason.Error()})
	}
	for i := range m.cells {
		c := &m.cells[i]
		fault, workload := does(c.Cell)
		cell := matrixCellDocument{
			Lock: c.Lock, Fault: fault, Workload: workload, Expected: c.Expect.Codes, Why: c.Expect.Why,
			Must: append([]catalogue.Code{}, c.Expect.Must...), May: append([]string{}, checker.Promise(c.Expect.May).Strings()...),
			Outcome: c.Standing.String(), Reason: c.Reason, Missing: c.Missing,
			Sentence: c.sentence, Cut: c.Cut,
			Codes: append([]catalogue.Code{}, c.found()...), Found: []matrixFound{}, Runs: c.result.Runs,
			Grants: c.result.Reached[checker.Grants], Hits: c.result.Reached[checker.FaultTouched],
		}
		if c.kept.dir != "" {
			cell.File = filepath.Join(c.kept.dir, historyFile)
			if c.shrunk.dir != "" {
				cell.Shrunk = filepath.Join(c.shrunk.dir, historyFile)
			}
		}
		if s := c.second(); s.Total() > 0 {
			cell.Porcupine = &s
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
