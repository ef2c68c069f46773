// Package results has the result of an exploration for machines. It is the document
// that run, suite and merge print with --json, that shards write to result.json, and
// that every report is made from. docs/json.md is generated from these types.
package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/layout"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Schema is the version of the documents. A new field does not change it.
const Schema = 1

// File is the name of the document in a directory of results.
const File = "result.json"

// Head is the beginning of every document: the command, its settings and the verdict.
type Head struct {
	Schema   int    `json:"schema"`             // version of this document
	Command  string `json:"command"`            // the command: run, suite or matrix
	Version  string `json:"version"`            // version of lockcheck
	Revision string `json:"revision,omitempty"` // source of the build: its commit or version; with a digest of the program if the build knows neither, or if the source had changed since
	// Settings is everything that decides the runs: flags and arguments by name, and
	// digests of the suite's file, the replayed counterexamples and the baseline; on
	// docker also the images and the operating system. All shards have the same.
	Settings map[string]string `json:"settings"`
	Shards   *Shards           `json:"shards,omitempty"` // the shards that this document joins, if it is a part or a merge of shards

	Verdict     Verdict `json:"verdict"`               // the verdict
	ExitCode    int     `json:"exit_code"`             // exit code of the command
	Reason      string  `json:"reason,omitempty"`      // why the verdict is neither held nor violated
	Interrupted bool    `json:"interrupted,omitempty"` // an interrupt ended it: these are the results until then
	Seconds     float64 `json:"seconds"`               // how long it took; of shards, the sum
}

// Shards names the shards of an exploration that a document has.
type Shards struct {
	Of      int   `json:"of"`                // the number of shards
	Have    []int `json:"have"`              // numbers of the shards in this document, from 1, in order
	Cut     []int `json:"cut,omitempty"`     // numbers of those that were interrupted
	Missing []int `json:"missing,omitempty"` // numbers of the shards that are missing
}

// Document is the result of run, suite, matrix or merge.
type Document struct {
	Head
	Runs       int                         `json:"runs"`               // runs in all cells
	Seed       uint64                      `json:"seed"`               // seed of the first run; run i, from 0, has this + i
	Retried    int                         `json:"retried,omitempty"`  // runs that were retried because the environment failed
	Violations []Violation                 `json:"violations"`         // one violation of each violated property: a new one of a promise before a known one, and that before one without a promise; among equals the one with the lowest seed
	Properties map[checker.Property]string `json:"properties"`         // each property with its worst outcome in all cells: violated, unknown, valid or n/a
	Reached    map[string]int              `json:"reached"`            // counters of all runs, by name: lockcheck list reached
	Cells      []Cell                      `json:"cells"`              // the cells, in order
	Baseline   *Baseline                   `json:"baseline,omitempty"` // comparison with the known violations, with --baseline

	Matrix *Matrix `json:"-"` // only of matrix, whose cells have an expectation
}

// Violation is one property that a cell violated.
type Violation struct {
	Property checker.Property `json:"property"`           // the violated property
	Cell     string           `json:"cell"`               // name of the cell
	Lock     string           `json:"lock"`               // the lock under test
	Settings string           `json:"settings,omitempty"` // settings of the cell
	Runs     int              `json:"runs"`               // how many runs of the cell violated it
	Among    int              `json:"among"`              // how many runs the cell had
	Promised bool             `json:"promised"`           // whether it decides the exit code, unless it is known
	Known    bool             `json:"known,omitempty"`    // the baseline has it: it does not fail the command
	// of a new violation in sim, if the baseline has it by other mechanisms only: those that are new, the rarest first
	Mechanisms []Mechanism `json:"mechanisms,omitempty"`
	Counterexample
}

// Counterexample is the run with the lowest seed that violated a property.
type Counterexample struct {
	Seed     uint64 `json:"seed"`               // seed of that run
	File     string `json:"file"`               // its history; schedule, verdict and story are beside it
	Shrunk   string `json:"shrunk,omitempty"`   // history of the shortest run that still violates it
	Sentence string `json:"sentence,omitempty"` // the violation, in one sentence
	Replay   string `json:"replay,omitempty"`   // command that replays the run; only if its files exist
	// Porcupine is the second judge's verdict: agreed, undecided or disagreed; absent if it
	// does not judge this property.
	Porcupine checker.Opinion `json:"porcupine,omitempty"`
	Steps     int             `json:"steps,omitempty"` // steps that lead to it, of an exhaustive search
}

// Baseline compares the promised violations with the known ones.
type Baseline struct {
	File  string      `json:"file"`  // the file that was given with --baseline
	Known []Violation `json:"known"` // violations of the baseline that were found again
	New   []Violation `json:"new"`   // violations that the baseline does not have
	Gone  []Violation `json:"gone"`  // violations of the baseline that were not found in as many runs
	// violations of the baseline that these runs could not find again: the cell or the
	// promise no longer exists, or there were fewer runs.
	Unseen []Violation `json:"unseen"`
}

// Verdict is the overall result.
type Verdict string

// The verdicts.
const (
	Held          Verdict = "held"           // every promise held
	Violated      Verdict = "violated"       // a promise was violated; a failure of the environment is never the reason
	Inconclusive  Verdict = "inconclusive"   // the runs prove nothing
	Unavailable   Verdict = "unavailable"    // the environment could not be set up, or broke down
	NotApplicable Verdict = "not-applicable" // of a cell: its fault cannot strike its lock, or not in that environment
	Known         Verdict = "known"          // of a cell: all its violations are in the baseline
	Elsewhere     Verdict = "elsewhere"      // of a cell in a shard: its runs are in other shards, or too few to show anything without them
)

// ExitCode returns the exit code of the command for a verdict.
func (v Verdict) ExitCode() int {
	switch v {
	case Violated:
		return exit.Violated
	case Inconclusive:
		return exit.Unproven
	case Unavailable:
		return exit.Unavailable
	}
	return exit.Held
}

// Decide sets the fields that follow from the cells and their baseline: sums,
// violations and verdict. Merged documents are decided anew.
func (d *Document) Decide() {
	if d.Matrix != nil {
		d.decideMatrix()
		return
	}
	for i := range d.Cells {
		c := &d.Cells[i]
		c.decide()
		if d.Shards.part() && c.wantsOthers() {
			c.elsewhere()
		}
	}
	d.sum()
	verdict, trouble, applies, here, reason := Held, false, false, false, ""
	for i := range d.Cells {
		c := &d.Cells[i]
		trouble = trouble || c.Trouble != ""
		if c.Verdict == NotApplicable {
			continue
		}
		applies = true
		if c.Verdict == Elsewhere {
			continue
		}
		here = true
		if c.Verdict == Violated || c.Verdict == Inconclusive && verdict == Held {
			verdict = c.Verdict
		}
		if c.Reason != "" {
			reason = joined(reason, c.Name+": "+c.Reason)
		}
	}
	lacks := d.Shards.Incomplete()
	if lacks == "" && d.Interrupted {
		lacks = "interrupted"
	}
	switch {
	case !applies:
		verdict, reason = Inconclusive, cmp.Or(reason, "nothing ran")
	case lacks != "" && verdict == Held:
		verdict = Inconclusive
	case !here && d.Shards.part():
		verdict, reason = Elsewhere, "no run falls to this shard"
		if d.Runs > 0 {
			reason = "the few runs of this shard show nothing without the others"
		}
	}
	// If several apply, the exit code is the first of 3, 1, 2.
	if trouble {
		verdict = Unavailable
	}
	d.Verdict, d.ExitCode, d.Reason = verdict, verdict.ExitCode(), joined(lacks, reason)
	if d.Interrupted {
		d.ExitCode = exit.Interrupted
	}
}

// DecideAfter decides a document of a command that an error may have ended early.
func (d *Document) DecideAfter(failed error) {
	d.Decide()
	if failed == nil {
		return
	}
	if d.Verdict != Violated && d.Verdict != Unavailable {
		d.Verdict, d.Reason = Inconclusive, layout.FirstLine(failed.Error())
	}
	if !d.Interrupted {
		d.ExitCode = exit.Worse(d.ExitCode, exit.Code(failed))
	}
}

// sum adds up the results of the cells, which must have been decided.
func (d *Document) sum() {
	d.Runs, d.Retried = 0, 0
	d.Violations, d.Properties, d.Reached = []Violation{}, map[checker.Property]string{}, map[string]int{}
	type outcome struct {
		of checker.Property
		is checker.Outcome
	}
	came := map[outcome]bool{}
	for i := range d.Cells {
		c := &d.Cells[i]
		d.Runs += c.Runs
		d.Retried += c.Retried
		for name, n := range c.Reached {
			d.Reached[name] += n
		}
		for _, p := range c.Properties {
			came[outcome{p.Property, p.Decided()}] = true
			if p.Counterexample != nil {
				d.violation(c.violation(&p))
			}
		}
	}
	for _, p := range checker.Properties {
		d.Properties[p] = checker.Worst(func(out checker.Outcome) bool { return came[outcome{p, out}] }).String()
	}
}

// Cuts says how many cells ended before all their runs, with one sentence for each
// reason.
func (d *Document) Cuts() (list []string) {
	counts := map[string]int{}
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Cut != "" {
			counts[c.Cut]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s of %d ended before all runs were done: %s", names.Count(counts[why], "cell"), len(d.Cells), why))
	}
	return list
}

// BrokenPromises counts the broken promises, and those known to the baseline. A kept
// counterexample counts for the cell that found it.
func (d *Document) BrokenPromises() (fresh, known int) {
	all := map[key]bool{} // true if the promise is known in all its cells
	for i := range d.Cells {
		c := &d.Cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			if !p.broken() {
				continue
			}
			k := key{cmp.Or(c.Of, c.Name), p.Property}
			before, seen := all[k]
			all[k] = p.Known && (before || !seen)
		}
	}
	for _, is := range all {
		if is {
			known++
		} else {
			fresh++
		}
	}
	return fresh, known
}

// violation keeps v if it is the first of the gravest ones of its property.
func (d *Document) violation(v Violation) {
	i := slices.IndexFunc(d.Violations, func(known Violation) bool { return known.Property == v.Property })
	switch {
	case i < 0:
		d.Violations = append(d.Violations, v)
	case cmp.Or(cmp.Compare(v.weight(), d.Violations[i].weight()), cmp.Compare(v.Seed, d.Violations[i].Seed)) < 0:
		d.Violations[i] = v
	}
}

// weight is lower for graver violations: first new violations of promises, then known
// ones, then those that are not promised.
func (v *Violation) weight() int {
	switch {
	case !v.Promised:
		return 2
	case v.Known:
		return 1
	}
	return 0
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
