package results

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// verdicts are all verdicts.
var verdicts = []Verdict{Held, Violated, Inconclusive, Unavailable, NotApplicable, Known, Elsewhere}

// matrixCommand is the command whose documents have another form.
const matrixCommand = "matrix"

// Validate returns an error for the first invalid field of a document that somebody
// wrote, with the values that it may have.
func (d *Document) Validate() error {
	if err := d.Head.validate(); err != nil {
		return err
	}
	if err := NotNegative("", map[string]int{"runs": d.Runs, "retried": d.Retried}); err != nil {
		return err
	}
	if d.Matrix != nil {
		return nil // the form of a matrix has been checked already
	}
	called := map[string]bool{}
	for i := range d.Cells {
		at := fmt.Sprintf("cells[%d].", i)
		if name := d.Cells[i].Name; called[name] {
			return fmt.Errorf("%sname is %q, as that of another cell", at, name)
		} else {
			called[name] = true
		}
		if err := d.Cells[i].Validate(at); err != nil {
			return err
		}
		if prop := d.Cells[i].unnamed(); prop != "" {
			return fmt.Errorf("%sproperties has %s, which is violated, without a file", at, prop)
		}
	}
	return nil
}

func (h *Head) validate() error {
	switch {
	case h.Schema < 1 || h.Schema > Schema:
		return fmt.Errorf("schema is %d: this lockcheck knows 1 to %d", h.Schema, Schema)
	case h.Seconds < 0:
		return fmt.Errorf("seconds is %v: it cannot be negative", h.Seconds)
	}
	if err := OneOf("verdict", h.Verdict, verdicts); err != nil {
		return err
	}
	if h.Shards != nil {
		if err := h.Shards.validate(); err != nil {
			return err
		}
	}
	if h.Settings == nil {
		return errors.New("settings is not there")
	}
	return nil
}

// validate checks that there are shards, and that each is in exactly one list.
func (s *Shards) validate() error {
	if s.Of < 1 || s.Of > explore.MostShards {
		return fmt.Errorf("shards.of is %d: it has to be 1 to %d", s.Of, explore.MostShards)
	}
	for _, l := range []struct {
		name string
		list []int
	}{{"have", s.Have}, {"cut", s.Cut}, {"missing", s.Missing}} {
		for i, n := range l.list {
			if n < 1 || n > s.Of || i > 0 && n <= l.list[i-1] {
				return fmt.Errorf("shards.%s has %d: it has to have numbers from 1 to %d, in order", l.name, n, s.Of)
			}
		}
	}
	for _, n := range s.Cut {
		if !slices.Contains(s.Have, n) {
			return fmt.Errorf("shards.cut has %d, which shards.have does not have", n)
		}
	}
	for _, n := range s.Missing {
		if slices.Contains(s.Have, n) {
			return fmt.Errorf("shards.missing has %d, which shards.have has, too", n)
		}
	}
	switch n := len(s.Have); {
	case n == 0:
		return fmt.Errorf("shards.have is empty: it has to have a number from 1 to %d", s.Of)
	case n > 1 && n+len(s.Missing) != s.Of:
		return fmt.Errorf("shards.have and shards.missing have %d numbers: they need one for each of the %d shards, or shards.have only one", n+len(s.Missing), s.Of)
	}
	return nil
}

// Validate returns an error for the first invalid field of a cell. at is the path of
// the cell in its document.
func (c *Cell) Validate(at string) error {
	if err := OneOf(at+"verdict", c.Verdict, verdicts); err != nil {
		return err
	}
	counts := map[string]int{"runs": c.Runs, "asked": c.Asked, "empty": c.Empty, "retried": c.Retried, "unfit": c.Unfit}
	if b := c.Bound; b != nil {
		maps.Copy(counts, map[string]int{
			"bound.clients": b.Clients, "bound.acquires": b.Acquires, "bound.faults": b.Faults,
			"bound.states": b.States, "bound.schedules": b.Schedules,
		})
	}
	if s := c.Porcupine; s != nil {
		maps.Copy(counts, map[string]int{
			"porcupine.agreed": s.Agreed, "porcupine.undecided": s.Undecided, "porcupine.disagreed": s.Disagreed,
		})
	}
	for fault, m := range c.Hazards {
		if _, ok := faults.Find(fault); !ok && fault != checker.NoFault {
			return fmt.Errorf("%shazards: there is no fault %q", at, fault)
		}
		for p, n := range m {
			if !slices.Contains(checker.Properties[:], p) {
				return fmt.Errorf("%shazards.%s: there is no property %q", at, fault, p)
			}
			counts["hazards."+fault+"."+string(p)] = n
		}
	}
	for field, m := range map[string]map[string]int{"reached": c.Reached, "drawn": c.Drawn, "touched": c.Touched} {
		for name, n := range m {
			counts[field+"."+name] = n
		}
	}
	if err := NotNegative(at, counts); err != nil {
		return err
	}
	if c.Seconds < 0 {
		return fmt.Errorf("%sseconds is %v: it cannot be negative", at, c.Seconds)
	}
	seen := map[checker.Property]bool{}
	for i := range c.Properties {
		if prop := c.Properties[i].Property; seen[prop] {
			return fmt.Errorf("%sproperties has %s twice", at, prop)
		} else {
			seen[prop] = true
		}
		if err := c.Properties[i].validate(fmt.Sprintf("%sproperties[%d].", at, i), c.Seed); err != nil {
			return err
		}
	}
	return nil
}

// validate checks that the runs have valid outcomes and seeds not before first, the
// seed of the cell's first run.
func (p *PropertyResult) validate(at string, first uint64) error {
	var names []string
	for _, out := range checker.Outcomes {
		names = append(names, out.String())
	}
	if err := OneOf(at+"outcome", p.Outcome, names); err != nil {
		return err
	}
	for _, out := range slices.Sorted(maps.Keys(p.Runs)) {
		t := p.Runs[out]
		if !slices.Contains(names, out) {
			return fmt.Errorf("%sruns has %q: it has to be %s", at, out, anyOf(names))
		}
		if err := NotNegative(at+"runs."+out+".", map[string]int{"count": t.Count}); err != nil {
			return err
		}
		if t.Count > 0 && int(t.Seed-first) < 0 {
			return fmt.Errorf("%sruns.%s.seed is %d: the first run of the cell has %d", at, out, t.Seed, first)
		}
	}
	return nil
}

// unnamed returns a property that is violated without a counterexample file, or "".
func (c *Cell) unnamed() checker.Property {
	for _, p := range c.Properties {
		if p.violated() && (p.Counterexample == nil || p.File == "") {
			return p.Property
		}
	}
	return ""
}

// OneOf returns an error if a field has another word than those listed.
func OneOf[T ~string](field string, word T, words []T) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("%s is %q: it has to be %s", field, word, anyOf(words))
}

// NotNegative returns an error if one of the counts is negative. The keys are the names
// of the fields.
func NotNegative(at string, counts map[string]int) error {
	for _, field := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[field]; n < 0 {
			return fmt.Errorf("%s%s is %d: it cannot be negative", at, field, n)
		}
	}
	return nil
}

// anyOf returns the words as "a, b or c".
func anyOf[T ~string](words []T) string {
	var list []string
	for _, w := range words {
		list = append(list, string(w))
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
