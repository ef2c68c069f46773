package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/checker"
)

// Merge is what parts of one exploration, which Choose has chosen, came to
// together. It changes none of them. Their order is that of the shards.
func Merge(parts []*Document, shards *Shards) *Document {
	// Of a shard that was interrupted the last cells may not be there.
	longest := slices.MaxFunc(parts, func(a, b *Document) int { return len(a.Cells) - len(b.Cells) })
	first := copied(parts[0])
	d := &Document{Head: first.Head, Seed: first.Seed, Matrix: first.Matrix}
	d.Interrupted = d.Interrupted && shards == nil // of shards it is said which
	var took time.Duration                         // the same in any order of the parts
	for _, p := range parts {
		took += seconds(p.Seconds)
	}
	d.Shards, d.Seconds = shards, took.Seconds()
	order := longest.Cells
	if d.Matrix != nil { // whose shards do whole cells
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

// TakeViolations adds the violations of promises that only an earlier try of the same
// shard found, and returns them as people read them. The rest of a cell is that of the
// try that did more of it; whether it is complete, that of d. Decide has to follow.
func (d *Document) TakeViolations(earlier *Document) (taken []string) {
	for _, was := range copied(earlier).Cells {
		c := d.Cell(was.Name)
		if c == nil { // this try did not come to it
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

// onlyBreaks returns the promises that a cell breaks, and another of its name does not.
func (c *Cell) onlyBreaks(o *Cell) (list []PropertyResult) {
	for _, p := range c.Properties {
		if other := o.Property(p.Property); c.broke(&p) && (other == nil || other.outcome() != checker.Violated) {
			list = append(list, p)
		}
	}
	return list
}

// Essence returns what two results of the same runs have in common, as text: not how
// long they took, where their files are, whether they were shrunk, how the file of a
// suite was called, what a baseline knew of it, and which shards they are. Two results
// with the same cells differ if only one of them was ended early.
func (d *Document) Essence() string {
	c := copied(d)
	if c.Command == "suite" {
		delete(c.Settings, "arguments")
	}
	c.Baseline = nil // the settings have its digest; merge may be given another one
	for i := range c.Cells {
		c.Cells[i].Seconds = 0
		for j := range c.Cells[i].Properties {
			c.Cells[i].Properties[j].Known = false
		}
	}
	c.Decide()
	c.Shards, c.Seconds = nil, 0
	c.Verdict, c.ExitCode, c.Reason, c.Interrupted = "", 0, "", false // they follow from the rest
	for x := range c.Counterexamples {
		*x = Counterexample{Seed: x.Seed, Steps: x.Steps}
	}
	text, _ := json.Marshal(c) // of our own types none fails
	return fmt.Sprint(d.ended(), string(text))
}

// key is what a baseline knows a violation by.
type key struct {
	cell     string
	property checker.Property
}

// joinBaselines is how the violations of all parts compare with the baseline
// that each of them was held against; nil: there was none. It marks in the cells
// what is known: a shard without such a violation could not. What is gone is said
// anew, as all had more runs than one.
func joinBaselines(parts []*Document, cells []Cell) *Baseline {
	var b *Baseline
	known, past := map[key]bool{}, map[key]bool{}
	var then []Violation
	for _, p := range parts {
		if p.Baseline == nil {
			continue
		}
		b = newBaseline(p.Baseline.File)
		for _, v := range p.Baseline.Known {
			known[key{v.Cell, v.Property}] = true
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
			p.Known = known[key{c.Name, p.Property}]
			switch {
			case p.Known:
				b.Known = append(b.Known, c.violation(p))
			case c.Promises.Covers(p.Property):
				b.New = append(b.New, c.violation(p))
			}
		}
	}
	for _, v := range then {
		b.sort(v, cells)
	}
	return b
}
