package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// Incomparable returns the reason why an earlier document cannot be the baseline of
// this one, or "". Cells of a suite carry their own settings, so the rest may have
// changed. Cells of run have the name of their lock only: with another fault or other
// clients, one could hide the violations of the other.
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
	return fmt.Sprintf("%s is %s there and %s here: only a %s with the same settings knows what was broken before",
		called(name), said(past.Settings, name), said(h.Settings, name), h.Command)
}

// unlike returns the first setting that differs between two explorations, except those
// in but. It returns "" without one.
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

// Against compares the document with an earlier one, the baseline, from a file. A
// broken promise that the same cell broke in the baseline, by the same mechanisms, is
// known, and does not affect the verdict. Any other broken promise is new. Call Decide
// afterwards.
func (d *Document) Against(file string, past *Document) {
	d.Baseline = newBaseline(file)
	for i := range d.Cells {
		c := &d.Cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			p.Known = false
			if !p.broken() {
				continue
			}
			known, by := past.knew(c, p)
			p.Known = known && len(by) == 0
			if v := c.violation(p); p.Known {
				d.Baseline.Known = append(d.Baseline.Known, v)
			} else {
				v.Mechanisms = by
				d.Baseline.New = append(d.Baseline.New, v)
			}
		}
		c.decide()
	}
	for i := range past.Cells {
		was := &past.Cells[i]
		for j := range was.Properties {
			if p := &was.Properties[j]; p.broken() {
				d.Baseline.sort(was.violation(p), d.Cells)
			}
		}
	}
}

func newBaseline(file string) *Baseline {
	return &Baseline{File: file, Known: []Violation{}, New: []Violation{}, Gone: []Violation{}, Unseen: []Violation{}}
}

// sort adds a violation of the baseline to the lists, unless it is known. It is gone if
// its cell has the same settings and the same promise, has a verdict, and had at least
// as many runs, or was searched completely. With fewer runs, a rare violation would be
// gone in one result and back in the next.
func (b *Baseline) sort(v Violation, cells []Cell) {
	if c := cellOf(cells, v.Cell); c != nil && c.Lock == v.Lock && c.Settings == v.Settings {
		p := c.Property(v.Property)
		switch {
		case p == nil || !p.Promised:
		case p.broken():
			return // it is known, or new by its mechanism
		case slices.ContainsFunc(cells, func(kept Cell) bool { return kept.Of == c.Name && kept.breaks(c, v.Property) }):
			return // its counterexample is listed instead
		case p.outcome() == checker.Valid && c.answered() && (c.Runs >= v.Among || c.Bound != nil && c.Bound.Complete):
			b.Gone = append(b.Gone, v)
			return
		}
	}
	b.Unseen = append(b.Unseen, v)
}

// answered reports whether the cell has a verdict.
func (c *Cell) answered() bool {
	return c.Runs > 0 && (c.Verdict == Held || c.Verdict == Violated || c.Verdict == Known)
}

// knew reports whether this cell broke the promise in document d, too, and by which
// mechanisms it did not. A kept counterexample belongs to the cell that found it: a
// violation of either counts for both. If d has the same counterexample, only that one
// counts.
//
// Mechanisms count in sim only. On real servers a run does not repeat, and the same flaw
// may show in another way.
func (d *Document) knew(c *Cell, p *PropertyResult) (known bool, not []Mechanism) {
	found := cmp.Or(c.Of, c.Name)
	same := func(was *Cell) bool { return was.Name == found || was.Of == found }
	if was := d.Cell(c.Name); was != nil && c.Of != "" {
		same = func(was *Cell) bool { return was.Name == c.Name }
	}
	not = slices.DeleteFunc(slices.Clone(p.Mechanisms), func(m Mechanism) bool { return m.LeftOut || c.On != "sim" })
	for i := range d.Cells {
		was := &d.Cells[i]
		if !same(was) || !was.breaks(c, p.Property) {
			continue
		}
		known = true
		by := was.Property(p.Property).Mechanisms
		not = slices.DeleteFunc(not, func(m Mechanism) bool {
			return by == nil || slices.ContainsFunc(by, func(b Mechanism) bool { return b.Name == m.Name })
		})
	}
	if !known {
		return false, nil
	}
	return true, not
}

// breaks reports whether c breaks a promise and is the same cell as o. Cells with one
// name but another lock or other settings are different.
func (c *Cell) breaks(o *Cell, prop checker.Property) bool {
	p := c.Property(prop)
	return c.Lock == o.Lock && c.Settings == o.Settings && p != nil && p.broken()
}

// Cell returns the cell with a name, or nil.
func (d *Document) Cell(name string) *Cell { return cellOf(d.Cells, name) }

func cellOf(cells []Cell, name string) *Cell {
	for i := range cells {
		if cells[i].Name == name {
			return &cells[i]
		}
	}
	return nil
}
