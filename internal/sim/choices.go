package sim

import (
	"math/bits"
	"math/rand/v2"

	"github.com/lockcheck/lockcheck/internal/env"
)

// choices decide everything in a run that could go differently. New choices are
// drawn from a seed. Replayed choices follow a record; a name missing in it gets
// 0, so that a record stays usable after a lock has changed.
type choices struct {
	rng      *rand.PCG // nil: replayed
	pcg      rand.PCG  // the target of rng
	record   bool      // always set in a replay
	made     []env.Choice
	replayed map[env.Name]int64
	used     int
	missing  int
	pct      *pct   // chooses the latencies; nil: they are drawn
	order    *order // decides instead of time; nil: events happen in the order of their times
}

// newChoices returns the source of choices that d describes.
func newChoices(d env.Decisions) *choices {
	switch {
	case d.Pick != nil:
		return &choices{order: &order{path: d.Path, pick: d.Pick}}
	case d.Follow != nil:
		return &choices{order: &order{names: d.Follow}}
	case d.Replay != nil:
		return replay(d.Replay)
	case d.Depth > 0:
		return drawPrioritized(d.Seed, d.Depth, d.Steps, d.Record)
	default:
		return draw(d.Seed, d.Record)
	}
}

// draw returns choices from a seed. With record they are kept.
func draw(seed uint64, record bool) *choices {
	c := &choices{record: record}
	c.rng = &c.pcg
	c.pcg.Seed(seed, 0x6c6f636b)
	return c
}

// replay returns the choices of a record.
func replay(record []env.Choice) *choices {
	c := &choices{record: true, replayed: make(map[env.Name]int64, len(record))}
	for _, ch := range record {
		c.replayed[ch.Name] = ch.Value
	}
	return c
}

// Decided returns the decisions of the run so far.
func (w *World) Decided() env.Decided {
	c := w.choices
	d := env.Decided{Choices: c.made, Missing: c.missing, Unused: len(c.replayed) - c.used}
	if o := c.order; o != nil {
		d.Order, d.Missing, d.Unused = o.taken, o.defaulted, o.unused+len(o.names)+len(o.path)-o.at
	}
	if c.pct != nil {
		d.Steps, d.Expected = c.pct.steps, c.pct.expected
	}
	return d
}

// needsNames reports whether choices need names. Counting and building names takes
// longer than drawing.
func (c *choices) needsNames() bool { return c.record }

// draw returns 0 ≤ x < n, for choices without names.
func (c *choices) draw(n int64) int64 {
	// The high half of the product is uniform except for one case in 2^64/n, and
	// needs no division.
	hi, _ := bits.Mul64(c.rng.Uint64(), uint64(n))
	return int64(hi)
}

// choose returns 0 ≤ x < n.
func (c *choices) choose(name env.Name, n int64) int64 {
	var v int64
	if c.rng != nil {
		v = c.draw(n)
	} else if old, ok := c.replayed[name]; ok {
		c.used++
		v = max(0, min(old, n-1))
	} else {
		c.missing++
	}
	if c.record {
		c.made = append(c.made, env.Choice{Name: name, Value: v})
	}
	return v
}

// reserve records a choice whose value is settled later and returns its place.
func (c *choices) reserve(name env.Name, until int64) int {
	if !c.record {
		return -1
	}
	c.made = append(c.made, env.Choice{Name: name, Value: until})
	return len(c.made) - 1
}

// settle gives a reserved choice its value.
func (c *choices) settle(place int, v int64) {
	if place >= 0 {
		c.made[place].Value = v
	}
}
