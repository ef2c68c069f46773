// Package index writes the page of a result: every cell, those with violations first, with
// links to the pages of violations.
package index

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// File is the name of the page in a directory of results.
const File = "index.html"

//go:embed web/index.html
var indexHTML string

var indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(report.Style) },
}).Parse(indexHTML))

// content is the content of the page.
type content struct {
	*results.Document
	Sign, Tone string
	Rows       []row
	Past       []pastViolations
}

// row is a cell.
type row struct {
	*results.Cell
	Sign, Tone, Struck, Reach string
	Broken                    []violation
}

// violation is a violated property of a cell. Page is empty if no run is kept.
type violation struct {
	*results.PropertyResult
	Page, Mark string
	Count      string // of runs
}

// pastViolations are violations beside those of the baseline.
type pastViolations struct {
	What string
	List []results.Violation
}

// signs are how verdicts are shown; the others have none.
var signs = map[results.Verdict][2]string{
	results.Held: {"✓", "good"}, results.Violated: {"✗", "bad"}, results.Known: {"✗", "warn"}, results.Inconclusive: {"?", "warn"}, results.Unavailable: {"!", "warn"},
}

// urgent orders the rows; other verdicts come last.
var urgent = map[results.Verdict]int{results.Violated: -4, results.Inconclusive: -3, results.Unavailable: -2, results.Known: -1}

// Write writes the page of a document to its directory of results.
func Write(dir string, d *results.Document) error {
	page, err := page(dir, d)
	if err != nil {
		return err
	}
	return rundir.WriteFile(filepath.Join(dir, File), page)
}

func page(dir string, d *results.Document) ([]byte, error) {
	x := content{Document: d, Sign: signs[d.Verdict][0], Tone: signs[d.Verdict][1]}
	for i := range d.Cells {
		c := &d.Cells[i]
		r := row{Cell: c, Sign: signs[c.Verdict][0], Tone: signs[c.Verdict][1], Struck: cmp.Or(strings.Join(c.Faults, ", "), "none")}
		if c.Properties != nil {
			var reached []string
			for _, h := range c.HazardsReached() {
				reached = append(reached, fmt.Sprintf("%s: %s in %d", cmp.Or(h.Fault, "none"), h.Reached, h.Runs))
			}
			r.Reach = strings.Join(reached, "; ")
		}
		for k := range c.Properties {
			p := &c.Properties[k]
			if !p.Is(checker.Violated) {
				continue
			}
			v := violation{PropertyResult: p, Count: names.Count(p.Runs[checker.Violated.String()].Count, "run")}
			switch {
			case p.Known:
				v.Mark = "known"
			case p.Promised && d.Baseline != nil:
				v.Mark = "new"
			case !p.Promised:
				v.Mark = "not promised"
			}
			if p.Counterexample != nil {
				kept := cmp.Or(p.Shrunk, p.File)
				file := filepath.Join(filepath.Dir(kept), rundir.PageFile)
				if rel, err := filepath.Rel(dir, file); kept != "" && err == nil && rundir.Exists(file) {
					v.Page = filepath.ToSlash(rel)
				}
			}
			r.Broken = append(r.Broken, v)
		}
		x.Rows = append(x.Rows, r)
	}
	slices.SortStableFunc(x.Rows, func(a, b row) int { return cmp.Compare(urgent[a.Verdict], urgent[b.Verdict]) })
	if b := d.Baseline; b != nil {
		x.Past = []pastViolations{{"No longer found", b.Gone}, {"Could not be found by these runs", b.Unseen}}
	}
	var text bytes.Buffer
	err := indexTemplate.Execute(&text, x)
	return text.Bytes(), err
}
