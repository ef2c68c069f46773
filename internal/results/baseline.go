package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// Incomparable says why a document of the past can be no baseline for this one;
// "": it can. The cells of a suite say themselves what they are, whatever else has
// changed. Those of run are called by their lock: under another fault or with other
// clients one would hide what the other has broken.
func (h *Head) Incomparable(past *Head) (why string) {
	if h.Command != past.Command {
		return fmt.Sprintf("it is of %s, and this is %s", past.Command, h.Command)
	}
	if h.Command == "suite" {
		return ""
	}
	name := unlike(h.Settings, past.Settings, "seed", "runs", "for", BaselineSetting)
	if name == "" {
		return ""
	}
	here, is := h.Settings[name]
	there, was := past.Settings[name]
	return fmt.Sprintf("%s is %s there and %s here: only a %s with the same settings knows what was broken before",
		called(name), said(there, was), said(here, is), h.Command)
}

// unlike is the first setting that two explorations do not share, but for some;
// "": there is none.
func unlike(a, b map[string]string, but ...string) string {
	names := slices.Sorted(maps.Keys(a))
	for _, name := range append(names, slices.Sorted(maps.Keys(b))...) {
		inA, isA := a[name]
		inB, isB := b[name]
		if (inA != inB || isA != isB) && !slices.Contains(but, name) {
			return name
		}
	}
	return ""
}

// Against compares with a document of the past, which came from a file. A promise
// that the same cell broke then, too, is known and decides nothing; one that it did
// not make or break is new. Decide has to follow.
func (d *Document) Against(file string, past *Document) {
	d.Baseline = newBaseline(file)
	for i := range d.Cells {
		c := &d.Cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			p.Known = p.Promised && p.outcome() == checker.Violated && past.knew(c, p.Property)
			switch {
			case p.outcome() != checker.Violated || !p.Promised:
			case p.Known:
				d.Baseline.Known = append(d.Baseline.Known, c.violation(p))
			default:
				d.Baseline.New = append(d.Baseline.New, c.violation(p))
			}
		}
		c.decide()
	}
	for i := range past.Cells {
		was := &past.Cells[i]
		for j := range was.Properties {
			if p := &was.Properties[j]; p.Promised && p.outcome() == checker.Violated {
				d.Baseline.sort(was.violation(p), d.Cells)
			}
		}
	}
}

func newBaseline(file string) *Baseline {
	return &Baseline{File: file, Known: []Violation{}, New: []Violation{}, Gone: []Violation{}, Unseen: []Violation{}}
}

// sort takes in a violation of the past. Unless it is known it is gone, if its
// cell is what it was, makes the same promise, has come to an answer, and had as many
// runs, or all that there are: a rare one would be gone after a single run, and back
// with the next.
func (b *Baseline) sort(v Violation, cells []Cell) {
	if c := cellOf(cells, v.Cell); c != nil && c.Lock == v.Lock && c.Settings == v.Settings {
		p := c.Property(v.Property)
		switch {
		case p == nil || !p.Promised:
		case p.Known:
			return
		case slices.ContainsFunc(cells, func(kept Cell) bool { return kept.Of == c.Name && kept.breaks(c, v.Property) }):
			return // it is listed as that of its counterexample
		case p.outcome() == checker.Valid && c.answered() && (c.Runs >= v.Among || c.Bound != nil && c.Bound.Complete):
			b.Gone = append(b.Gone, v)
			return
		}
	}
	b.Unseen = append(b.Unseen, v)
}

// answered tells whether the cell has come to an answer.
func (c *Cell) answered() bool {
	return c.Runs > 0 && (c.Verdict == Held || c.Verdict == Violated || c.Verdict == Known)
}

// knew tells whether this cell broke a promise at that time, too. A counterexample
// that was kept is one of the cell that found it: what either broke, both did. But
// what is said of the same counterexample counts alone.
func (d *Document) knew(c *Cell, prop checker.Property) bool {
	if was := d.Cell(c.Name); was != nil && c.Of != "" {
		return was.breaks(c, prop)
	}
	found := cmp.Or(c.Of, c.Name)
	return slices.ContainsFunc(d.Cells, func(was Cell) bool {
		return (was.Name == found || was.Of == found) && was.breaks(c, prop)
	})
}

// breaks tells whether a cell breaks a promise, and is one with o. One that is called
// alike and is of another lock or settings is another cell.
func (c *Cell) breaks(o *Cell, prop checker.Property) bool {
	p := c.Property(prop)
	return c.Lock == o.Lock && c.Settings == o.Settings && p != nil && p.Promised && p.outcome() == checker.Violated
}

// Cell is the one of a name; nil: there is none.
func (d *Document) Cell(name string) *Cell { return cellOf(d.Cells, name) }

func cellOf(cells []Cell, name string) *Cell {
	for i := range cells {
		if cells[i].Name == name {
			return &cells[i]
		}
	}
	return nil
}
