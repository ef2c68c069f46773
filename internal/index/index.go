// Package index writes the page of a result: every cell, those with violations first, with
// links to the pages of violations.
package index

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Of returns the content of the page of a document in this directory of results.
func Of(dir string, d *results.Document) *Page {
	p := &Page{Head: HeadOf(&d.Head)}
	p.Result, p.Reason, p.Runs, p.Cells, p.Seed = string(d.Verdict), d.Reason, d.Runs, len(d.Cells), d.Seed
	if d.Interrupted && !strings.Contains(p.Reason, "interrupted") {
		p.Reason = strings.TrimPrefix(p.Reason+"; interrupted", "; ")
	}
	for i := range d.Cells {
		p.Rows = append(p.Rows, rowOf(dir, d, &d.Cells[i]))
		for _, v := range p.Rows[i].Broken {
			if v.Mark != expected && !slices.Contains(p.Violated, v.Property) {
				p.Violated = append(p.Violated, v.Property)
			}
		}
	}
	if b := d.Baseline; b != nil {
		p.Baseline = &Baseline{b.File, len(b.New), len(b.Known), len(b.Gone), len(b.Unseen)}
		p.Past = []Past{{"No longer found", b.Gone}, {"Could not be found by these runs", b.Unseen}}
	}
	return p
}

// HeadOf returns the head of the page of a command that has no result yet.
func HeadOf(h *results.Head) Head {
	return Head{Command: h.Command, Arguments: h.Settings["arguments"], Version: h.Version, Result: Running}
}

func rowOf(dir string, d *results.Document, c *results.Cell) Row {
	r := Row{Name: c.Name, Lock: c.Lock, Faults: c.Faults, On: c.On, Result: string(c.Verdict), Reason: c.Reason, Runs: c.Runs, Seed: c.Seed}
	if c.Properties != nil {
		for _, h := range c.HazardsReached() {
			r.Reached = append(r.Reached, fmt.Sprintf("%s: %s in %s", cmp.Or(h.Fault, names.None), h.Reached, names.Count(h.Runs, "run")))
		}
	}
	for k := range c.Properties {
		p := &c.Properties[k]
		if !p.Is(checker.Violated) {
			continue
		}
		v := Violation{Property: string(p.Property), Words: "in " + names.Count(p.Runs[checker.Violated.String()].Count, "run"), Mark: mark(d, c, p)}
		if x := p.Counterexample; x != nil {
			v.Words += fmt.Sprintf(", seed %d", x.Seed)
			v.Page = Link(dir, cmp.Or(x.Shrunk, x.File))
			if !v.Aside() {
				v.Sentence = x.Sentence
			}
			if x.Shrunk != "" {
				v.Found = Link(dir, x.File)
			}
		}
		r.Broken = append(r.Broken, v)
	}
	return r
}

// Marks of violations that do not count.
const (
	expected    = "expected" // by the matrix
	notPromised = "not promised"
)

// mark says what a violation means for the result, in a word or two, or "".
func mark(d *results.Document, c *results.Cell, p *results.PropertyResult) string {
	switch {
	case c.Expected != nil && slices.Contains(c.Expected.May, p.Property):
		return expected
	case c.Expected != nil:
		return "unexpected"
	case p.Known:
		return "known"
	case !p.Promised:
		return notPromised
	case d.Baseline != nil:
		return "new"
	}
	return ""
}

// Link returns the link from a directory of results to the page beside a file of a run,
// or "" if there is none.
func Link(dir, file string) string {
	page := filepath.Join(filepath.Dir(file), rundir.PageFile)
	rel, err := filepath.Rel(dir, page)
	if file == "" || err != nil || !rundir.Exists(page) {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(rel)}).String()
}
