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
}

// link names and counts the messages from one host to another.
type link struct {
	name string // as "c2→redis-1"
	n    int    // messages so far, in runs whose choices have names
}

// next returns the name of the next message's latency.
func (l *link) next() env.Name {
	l.n++
	return env.Name{What: "latency", Who: l.name, N: l.n}
}

// newChoices returns the source of choices that d describes. Where order decides
// it has none.
func newChoices(d env.Decisions) *choices {
	switch {
	case d.Pick != nil || d.Follow != nil:
		return &choices{}
	case d.Replay != nil:
		return replay(d.Replay)
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
