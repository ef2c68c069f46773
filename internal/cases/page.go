package cases

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// newHead returns the head of the page of cases; arguments is "" for cases as documented.
func newHead(arguments string) *results.Head {
	return &results.Head{Command: "case", Version: harness.Version, Settings: map[string]string{"arguments": arguments}}
}

// page writes the page of cases: each with links to its failure and to the remedy. missing
// says how much an interrupt left out, or is "".
func (to *Stage) page(head *results.Head, rows []index.Row, result, missing string) error {
	p := &index.Page{Head: index.HeadOf(head), Rows: rows}
	p.Cells, p.Result, p.Reason = len(rows), result, strings.TrimPrefix(missing, "; ")
	for _, r := range rows {
		p.Runs += r.Runs
	}
	return to.Out.Show(p)
}

// pageResult returns the result on the page for an exit code; held and violated are its
// words for the first two.
func pageResult(code int, held, violated string) string {
	switch code {
	case exit.Held:
		return held
	case exit.Unproven:
		return string(results.Inconclusive)
	}
	return violated
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
	for i := range r.Schedules {
		s := &r.Schedules[i]
		name := harness.ScheduleName(r.Case, s.Schedule)
		to.show(&row, s.Flawed, s.Schedule, name)
		if n := s.Flawed.Reached[s.Schedule.Hazard]; n > 0 {
			row.Reached = append(row.Reached, s.Schedule.Hazard.Means()+": "+names.Thousands(n))
		}
		for _, beside := range []struct {
			words, suffix string
			run           *harness.Judged
		}{{"without the fault", "-no-fault", s.Healthy}, {"with the remedy", "-remedy", s.Remedied}} {
			if beside.run != nil {
				row.Runs++
				row.Also = append(row.Also, index.Violation{Property: beside.words, Page: to.link(name + beside.suffix)})
			}
		}
	}
	return row
}

// show adds a run of a schedule to the row of its case. name is that of its directory.
func (to *Stage) show(row *index.Row, j *harness.Judged, s catalogue.Schedule, name string) {
	row.Seed = j.Plan.Seed
	for _, in := range s.Faults {
		if !slices.Contains(row.Faults, in.Fault) {
			row.Faults = append(row.Faults, in.Fault)
		}
	}
	for _, p := range j.Violated() {
		v := index.Violation{Property: string(p), Words: s.Name, Page: to.link(name)}
		if w := j.Verdict(p).Witness; w != nil && slices.Contains(s.Must, p) {
			v.Sentence = w.Sentence
		}
		row.Broken = append(row.Broken, v)
	}
	row.Runs++
}

// link returns the link to the page of the run in a directory.
func (to *Stage) link(name string) string {
	return index.Link(to.Out.Path, filepath.Join(to.Out.Path, name, rundir.HistoryFile))
}
