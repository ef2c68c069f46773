package checker

import (
	"slices"
	"sort"
	"time"
)

// gap is a time during which a lock is not granted to anybody.
type gap struct {
	lock       int32
	begin, end int32 // positions; none, and the size of the history, at its ends
	from, to   time.Duration
	freed      int32 // position from which on nobody holds; none: nobody has held yet
	maybe      int32 // the hold that may have begun at end, or none
}

// gaps calls yield for each time between two grants of a lock, from the start
// of the history to its end, that is longer than atLeast, in the order of the
// grants that end them. It stops when yield returns false.
//
// Where an acquire was indeterminate and its grant was confirmed later, nobody
// knows since when the lock was granted: a gap ends with the invoke already.
func (t *timeline) gaps(atLeast time.Duration, yield func(gap) bool) {
	var few [2]gap                                                      // most histories have one lock: no allocation
	last := slices.Grow(few[:0], len(t.locks.list))[:len(t.locks.list)] // by lock: the gap that is open
	for l := range last {
		last[l] = gap{lock: int32(l), begin: none, freed: none, maybe: none}
	}
	for i := range t.holds {
		h := &t.holds[i]
		g := &last[h.lock]
		g.end, g.to = h.begin, t.at(h.begin)
		if t.longer(g, atLeast) && !yield(*g) {
			return
		}
		*g = gap{lock: h.lock, begin: h.begin, from: t.at(h.begin), freed: max(g.freed, h.end), maybe: none}
	}
	for _, g := range last {
		g.end, g.to = t.size(), t.end
		if t.longer(&g, atLeast) && !yield(g) {
			return
		}
	}
}

// longer tells whether g is longer than atLeast, when it has been cut where
// the lock may have been granted.
func (t *timeline) longer(g *gap, atLeast time.Duration) bool {
	if g.to-g.from <= atLeast {
		return false
	}
	for _, id := range t.confirmed {
		h := &t.holds[id]
		if asked := t.ops[h.op].invoke; h.lock == g.lock && h.begin >= g.end && asked < g.end {
			g.end, g.to, g.maybe = asked, t.at(asked), id
		}
	}
	return g.to-g.from > atLeast
}

// waitsUntil are the waits that began before pos.
func (t *timeline) waitsUntil(pos int32) []wait {
	return t.waits[:sort.Search(len(t.waits), func(i int) bool { return t.waits[i].begin >= pos })]
}
