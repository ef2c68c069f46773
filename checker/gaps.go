package checker

import (
	"sort"
	"time"
)

// gap is a time during which a lock is not granted to anybody.
type gap struct {
	lock       int32
	begin, end int32 // positions; none, and the size of the history, at its ends
	from, to   time.Duration
	freed      int32 // position from which on nobody holds; none: nobody has held yet
}

// gaps calls yield for each time between two grants of a lock, from the start
// of the history to its end, that is longer than atLeast, in the order in which they
// end. It stops when yield returns false.
func (t *timeline) gaps(atLeast time.Duration, yield func(gap) bool) {
	last := make([]gap, len(t.locks.list)) // by lock: the gap that is open
	for l := range last {
		last[l] = gap{lock: int32(l), begin: none, freed: none}
	}
	for i := range t.holds {
		h := &t.holds[i]
		g := &last[h.lock]
		g.end, g.to = h.begin, t.at(h.begin)
		if g.to-g.from > atLeast && !yield(*g) {
			return
		}
		*g = gap{lock: h.lock, begin: h.begin, from: g.to, freed: max(g.freed, h.end)}
	}
	for _, g := range last {
		g.end, g.to = t.size(), t.end
		if g.to-g.from > atLeast && !yield(g) {
			return
		}
	}
}

// waitsUntil are the waits that began before pos.
func (t *timeline) waitsUntil(pos int32) []wait {
	return t.waits[:sort.Search(len(t.waits), func(i int) bool { return t.waits[i].begin >= pos })]
}
