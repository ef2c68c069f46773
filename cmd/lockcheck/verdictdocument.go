package main

import "github.com/lockcheck/lockcheck/internal/rundir"

// verdictDocument is the --json document for one history, with further data for the
// command itself.
type verdictDocument struct {
	rundir.Verdict

	broken []string // of a replay: promised properties that it violates
	aside  []string // properties that it violates and are not promised
	asked  []string // the promised ones of Was
	limits string   // of a judge that ran out of time or memory
}

// printVerdicts prints one document for all files that a command judged. For a single
// file that is the file's own document.
func (a *app) printVerdicts(several verdictsDocument) error {
	if len(several.Files) == 1 && !several.Interrupted {
		one := several.Files[0]
		one.Passed = several.Passed
		return a.PrintJSON(one)
	}
	several.Schema, several.Files = 1, append([]rundir.Verdict{}, several.Files...)
	return a.PrintJSON(several)
}

// verdictsDocument is the --json document for several histories, or none.
type verdictsDocument struct {
	Schema int              `json:"schema"` // version of this document
	Files  []rundir.Verdict `json:"files"`  // what came of each, in order

	Passed      []string `json:"passed_over,omitempty"` // of check, of directories: files beside histories that end as these do and are none
	Interrupted bool     `json:"interrupted,omitempty"` // somebody ended it: this is what there was until then
	Left        int      `json:"not_begun,omitempty"`   // files or cases that were not begun, as it was interrupted
}
