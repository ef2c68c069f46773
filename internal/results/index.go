package results

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// IndexFile is the page beside the document: every cell, with links to the pages of
// violations.
const IndexFile = "index.html"

//go:embed web/index.html
var indexHTML string

var indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(report.Style) },
}).Parse(indexHTML))

// index is the content of the page.
type index struct {
	*Document
	Sign, Tone string
	Rows       []indexRow
	Past       []pastViolations
}

// indexRow is a cell.
type indexRow struct {
	*Cell
	Sign, Tone, Struck, Reach string
	Broken                    []indexViolation
}

// indexViolation is a violated property of a cell. Page is empty if no run is kept.
type indexViolation struct {
	*PropertyResult
	Page, Mark string
	Count      string // of runs
}

// pastViolations are violations beside those of the baseline.
type pastViolations struct {
	What string
	List []Violation
}

// signs are how verdicts are shown; the others have none.
var signs = map[Verdict][2]string{
	Held: {"✓", "good"}, Violated: {"✗", "bad"}, Known: {"✗", "warn"}, Inconclusive: {"?", "warn"}, Unavailable: {"!", "warn"},
}

// urgent orders the rows; other verdicts come last.
var urgent = map[Verdict]int{Violated: -4, Inconclusive: -3, Unavailable: -2, Known: -1}

// page returns the page of a document whose file names are relative to its directory, in
// which a file exists or does not.
func (d *Document) page(exists func(file string) bool) ([]byte, error) {
	x := index{Document: d, Sign: signs[d.Verdict][0], Tone: signs[d.Verdict][1]}
	for i := range d.Cells {
		c := &d.Cells[i]
		r := indexRow{Cell: c, Sign: signs[c.Verdict][0], Tone: signs[c.Verdict][1], Struck: cmp.Or(strings.Join(c.Faults, ", "), "none")}
		if c.Properties != nil {
			var reached []string
			for _, h := range c.HazardsReached() {
				reached = append(reached, fmt.Sprintf("%s: %s in %d", cmp.Or(h.Fault, "none"), h.Reached, h.Runs))
			}
			r.Reach = strings.Join(reached, "; ")
		}
		for k := range c.Properties {
			p := &c.Properties[k]
			if !p.violated() {
				continue
			}
			v := indexViolation{PropertyResult: p, Count: names.Count(p.Runs[checker.Violated.String()].Count, "run")}
			switch {
			case p.Known:
				v.Mark = "known"
			case p.Promised && d.Baseline != nil:
				v.Mark = "new"
			case !p.Promised:
				v.Mark = "not promised"
			}
			if p.Counterexample != nil {
				file := path.Join(path.Dir(filepath.ToSlash(cmp.Or(p.Shrunk, p.File))), rundir.PageFile)
				if exists(filepath.FromSlash(file)) {
					v.Page = file
				}
			}
			r.Broken = append(r.Broken, v)
		}
		x.Rows = append(x.Rows, r)
	}
	slices.SortStableFunc(x.Rows, func(a, b indexRow) int { return cmp.Compare(urgent[a.Verdict], urgent[b.Verdict]) })
	if b := d.Baseline; b != nil {
		x.Past = []pastViolations{{"No longer found", b.Gone}, {"Could not be found by these runs", b.Unseen}}
	}
	var text bytes.Buffer
	err := indexTemplate.Execute(&text, x)
	return text.Bytes(), err
}
