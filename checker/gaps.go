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
	late := t.lateHolds()
	for i := range t.holds {
		h := &t.holds[i]
		g := &last[h.lock]
		g.end, g.to = h.begin, t.at(h.begin)
		if t.longer(g, atLeast, late) && !yield(*g) {
			return
		}
		*g = gap{lock: h.lock, begin: h.begin, from: t.at(h.begin), freed: max(g.freed, h.end), maybe: none}
	}
	for _, g := range last {
		g.end, g.to = t.size(), t.end
		if t.longer(&g, atLeast, late) && !yield(g) {
			return
		}
	}
}

// longer tells whether g is longer than atLeast, when it has been cut where
// the lock may have been granted.
func (t *timeline) longer(g *gap, atLeast time.Duration, late [][]lateHold) bool {
	if g.to-g.from <= atLeast {
		return false
	}
	if late == nil {
		return true
	}
	list := late[g.lock]
	if n := sort.Search(len(list), func(i int) bool { return list[i].begin < g.end }); n > 0 {
		id := list[n-1].first
		if asked := t.ops[t.holds[id].op].invoke; asked < g.end {
			g.end, g.to, g.maybe = asked, t.at(asked), id
		}
	}
	return g.to-g.from > atLeast
}

// lateHold is a hold that was confirmed at begin.
type lateHold struct {
	begin int32
	first int32 // of it and those that begin later, the hold that was asked for first
}

// lateHolds are the confirmed ones by lock, the last one first; nil: there are none.
func (t *timeline) lateHolds() [][]lateHold {
	if len(t.confirmed) == 0 {
		return nil
	}
	late := make([][]lateHold, len(t.locks.list))
	for _, id := range slices.Backward(t.confirmed) {
		h := &t.holds[id]
		list, first := late[h.lock], id
		if n := len(list); n > 0 && t.ops[t.holds[list[n-1].first].op].invoke < t.ops[h.op].invoke {
			first = list[n-1].first
		}
		late[h.lock] = append(list, lateHold{h.begin, first})
	}
	return late
}
