package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
)

// Merge joins the parts of one exploration that Choose returned, in the order of their
// shards. It does not change the parts.
func Merge(parts []*Document, shards *Shards) *Document {
	// An interrupted shard may lack its last cells.
	longest := slices.MaxFunc(parts, func(a, b *Document) int { return len(a.Cells) - len(b.Cells) })
	first := copied(parts[0])
	d := &Document{Head: first.Head, Seed: first.Seed, Matrix: first.Matrix}
	d.Interrupted = d.Interrupted && shards == nil // shards lists the interrupted ones
	var took time.Duration                         // summed exactly, so that the order of the parts does not matter
	for _, p := range parts {
		took += seconds(p.Seconds)
	}
	d.Shards, d.Seconds = shards, took.Seconds()
	order := longest.Cells
	if d.Matrix != nil { // its shards have complete cells
		order = d.frame()[:len(d.Matrix.Table)]
	}
	for _, c := range order {
		d.Cells = append(d.Cells, Cell{Name: c.Name})
	}
	place := map[string]int{}
	for i, c := range d.Cells {
		place[c.Name] = i
	}
	seen := map[string]bool{}
	for _, p := range parts {
		for _, c := range copied(p).Cells {
			i, known := place[c.Name]
			switch {
			case !known:
				i = len(d.Cells)
				d.Cells, place[c.Name] = append(d.Cells, c), i
			case !seen[c.Name]:
				d.Cells[i] = c
			default:
				d.Cells[i].add(&c)
			}
			seen[c.Name] = true
		}
	}
	d.Cells = slices.DeleteFunc(d.Cells, func(c Cell) bool { return !seen[c.Name] })
	if m := d.Matrix; m != nil {
		m.Left = len(m.Table) - len(d.Cells)
		for _, p := range parts {
			m.Trouble = cmp.Or(m.Trouble, p.Matrix.Trouble)
		}
	}
	d.Baseline = joinBaselines(parts, d.Cells)
	d.Decide()
	return d
}

// TakeViolations adds the violations that only an earlier try of the same shard found,
// and returns their descriptions. The other data of a cell come from the try that did
// more of it, but d decides whether the cell is complete. Call Decide afterwards.
func (d *Document) TakeViolations(earlier *Document) (taken []string) {
	for _, was := range copied(earlier).Cells {
		c := d.Cell(was.Name)
		if c == nil { // this try did not reach the cell
			c = &Cell{Name: was.Name, Lock: was.Lock, Seed: was.Seed}
		}
		only := was.onlyBreaks(c)
		if only == nil {
			continue
		}
		for _, p := range only {
			taken = append(taken, string(p.Property)+" in "+was.Name)
		}
		if c.Runs < was.Runs {
			was.Trouble, was.Cut = c.Trouble, c.Cut
			*c, was = was, *c
			only = was.onlyBreaks(c)
		}
		for _, p := range only {
			if own := c.Property(p.Property); own != nil {
				*own = p
			} else {
				c.Properties = append(c.Properties, p)
			}
		}
		if c.Expected != nil {
			c.judge()
		}
		if d.Cell(c.Name) == nil {
			d.Cells = append(d.Cells, *c)
			if d.Matrix != nil {
				d.Matrix.Left--
			}
		}
	}
	return taken
}

// onlyBreaks returns the promises that c breaks and o does not.
func (c *Cell) onlyBreaks(o *Cell) (list []PropertyResult) {
	for _, p := range c.Properties {
		if other := o.Property(p.Property); c.broke(&p) && (other == nil || !other.violated()) {
			list = append(list, p)
		}
	}
	return list
}

// Essence returns, as text, the content that two results of the same runs share. It
// leaves out durations, file names, minimising, the name of the suite's file, the
// baseline and the shards. Two results with the same cells still differ if only one of
// them was ended early.
func (d *Document) Essence() string {
	c := copied(d)
	if c.Command == "suite" {
		delete(c.Settings, "arguments")
	}
	c.Baseline = nil // the settings have its digest; merge may get another one
	for i := range c.Cells {
		c.Cells[i].Seconds = 0
		for j := range c.Cells[i].Properties {
			c.Cells[i].Properties[j].Known = false
		}
	}
	c.Decide()
	c.Shards, c.Seconds = nil, 0
	c.Verdict, c.ExitCode, c.Reason, c.Interrupted = "", 0, "", false // they follow from the other fields
	for x := range c.Counterexamples {
		*x = Counterexample{Seed: x.Seed, Steps: x.Steps}
	}
	text, _ := json.Marshal(c) // marshalling our own types cannot fail
	return fmt.Sprint(d.ended(), string(text))
}

// key identifies a violation for a baseline.
type key struct {
	cell     string
	property checker.Property
}

// among returns the mechanisms of p that are new in a shard.
func (p *PropertyResult) among(shards []Violation) []Mechanism {
	return slices.DeleteFunc(slices.Clone(p.Mechanisms), func(m Mechanism) bool {
		return !slices.ContainsFunc(shards, func(v Violation) bool {
			return slices.ContainsFunc(v.Mechanisms, func(o Mechanism) bool { return o.Name == m.Name })
		})
	})
}

// joinBaselines joins the comparisons of all parts with their baseline, or returns nil
// if there was none. It marks known violations in the cells: a shard without such a
// violation could not. It lists gone violations anew, because all parts together had
// more runs than one.
func joinBaselines(parts []*Document, cells []Cell) *Baseline {
	var b *Baseline
	known, past, anew := map[key]bool{}, map[key]bool{}, map[key][]Violation{}
	var then []Violation
	for _, p := range parts {
		if p.Baseline == nil {
			continue
		}
		b = newBaseline(p.Baseline.File)
		for _, v := range p.Baseline.Known {
			known[key{v.Cell, v.Property}] = true
		}
		for _, v := range p.Baseline.New {
			anew[key{v.Cell, v.Property}] = append(anew[key{v.Cell, v.Property}], v)
		}
		for _, v := range slices.Concat(p.Baseline.Gone, p.Baseline.Unseen) {
			if k := (key{v.Cell, v.Property}); !past[k] {
				past[k], then = true, append(then, v)
			}
		}
	}
	if b == nil {
		return nil
	}
	for i := range cells {
		c := &cells[i]
		for j := range c.Properties {
			p := &c.Properties[j]
			if p.Counterexample == nil {
				continue
			}
			k := key{c.Name, p.Property}
			p.Known = known[k] && len(anew[k]) == 0
			v := c.violation(p)
			switch {
			case p.Known:
				b.Known = append(b.Known, v)
			case c.Promises.Covers(p.Property):
				v.Mechanisms = p.among(anew[k])
				b.New = append(b.New, v)
			}
		}
	}
	for _, v := range then {
		b.sort(v, cells)
	}
	return b
}
