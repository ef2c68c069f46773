package cases

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// head is the head of the page of cases.
var head = results.Head{Command: "case", Version: harness.Version}

// page writes the page of cases: each with links to its failure and to the remedy.
func (to *Stage) page(doc *Document, rows []index.Row, code int) error {
	p := &index.Page{Head: index.HeadOf(&head), Rows: rows}
	p.Cells, p.Result = len(rows), index.AsDocumented
	switch code {
	case exit.Held:
	case exit.Unproven:
		p.Result = string(results.Inconclusive)
	default:
		p.Result = index.NotAsDocumented
	}
	p.Reason = strings.TrimPrefix(doc.missing(), "; ")
	for _, r := range rows {
		p.Runs += r.Runs
	}
	return to.Out.Show(p)
}

// rowOf returns the row of a case. r is nil if it cannot be shown here.
func (to *Stage) rowOf(r *harness.CaseResult, result *Result) index.Row {
	row := index.Row{Name: result.ID, Lock: result.Lock, On: result.On, Result: index.NotAsDocumented, Reason: result.Reason}
	switch {
	case r == nil:
		row.Result = string(results.NotApplicable)
		return row
	case result.AsDocumented():
		row.Result, row.Reason = index.AsDocumented, ""
	case r.Reproduced && r.Remedy == "unknown":
		row.Result = string(results.Inconclusive)
	}
	link := func(name string) string {
		return index.Link(to.Out.Path, filepath.Join(to.Out.Path, name, rundir.HistoryFile))
	}
	for i := range r.Schedules {
		s := &r.Schedules[i]
		name := harness.ScheduleName(r.Case, s.Schedule)
		row.Seed = s.Flawed.Plan.Seed
		for _, in := range s.Schedule.Faults {
			if !slices.Contains(row.Faults, in.Fault) {
				row.Faults = append(row.Faults, in.Fault)
			}
		}
		if n := s.Flawed.Reached[s.Schedule.Hazard]; n > 0 {
			row.Reached = append(row.Reached, s.Schedule.Hazard.Means()+": "+names.Thousands(n))
		}
		for _, p := range s.Flawed.Violated() {
			v := index.Violation{Property: string(p), Words: s.Schedule.Name, Page: link(name)}
			if w := s.Flawed.Verdict(p).Witness; w != nil && slices.Contains(s.Schedule.Must, p) {
				v.Sentence = w.Sentence
			}
			row.Broken = append(row.Broken, v)
		}
		row.Runs++
		for _, beside := range []struct {
			words, suffix string
			run           *harness.Judged
		}{{"without the fault", "-no-fault", s.Healthy}, {"with the remedy", "-remedy", s.Remedied}} {
			if beside.run != nil {
				row.Runs++
				row.Also = append(row.Also, index.Violation{Property: beside.words, Page: link(name + beside.suffix)})
			}
		}
	}
	return row
}
