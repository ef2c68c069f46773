package main

import (
	"encoding/json"
	"maps"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/results"
	"github.com/lockcheck/lockcheck/suite"
)

// cellSettings is a digest of what the runs of a cell have in common: all that its
// entry says, but for its name, its promises and how many runs there are, the kinds
// of faults, and what the place has beside that.
func cellSettings(e *suite.Entry, kinds []faults.Fault) string {
	entry := *e
	entry.Name, entry.Promises, entry.Runs, entry.Line = "", nil, 0, 0
	entry.On, entry.Faults = e.Place(), []string{}
	for _, k := range kinds {
		entry.Faults = append(entry.Faults, k.Name)
	}
	text, _ := json.Marshal([]any{entry, surroundings(entry.On)}) // none of it fails
	return digest(text)
}

// noteParts notes in the head of a suite what its cells hang on beside its file: the
// counterexamples of the past, and what their places have.
func noteParts(h *results.Head, kept []*keptCell, cells []*suiteCell) {
	var past []any
	for _, k := range kept {
		past = append(past, k.cell.Name, k.text)
		maps.Copy(h.Settings, surroundings(k.plan.On))
	}
	if past != nil {
		text, _ := json.Marshal(past) // none of it fails
		h.Settings[results.RegressionsSetting] = digest(text)
	}
	for _, c := range cells {
		maps.Copy(h.Settings, surroundings(c.settings.On))
	}
}
