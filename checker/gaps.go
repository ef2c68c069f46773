package checker

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// gap is a time in which a lock is not granted to any client.
type gap struct {
	lock       int32
	begin, end int32 // positions; at the ends of the history none and its size
	from, to   time.Duration
	freed      int32 // position from which no client holds; none: no client has held yet
	maybe      int32 // the hold that may have begun at end, or none
}

// gaps yields each time between two grants of a lock, from the start of the history to
// its end, that is longer than atLeast, in the order of the grants that end them.
//
// If the grant of an indeterminate acquire was confirmed later, the time of the grant
// is unknown: the gap ends with the acquire's invoke.
func (t *timeline) gaps(atLeast time.Duration) iter.Seq[gap] {
	return func(yield func(gap) bool) { t.findGaps(atLeast, yield) }
}

func (t *timeline) findGaps(atLeast time.Duration, yield func(gap) bool) {
	var few [2]gap                                                      // most histories have one lock: no allocation
	last := slices.Grow(few[:0], len(t.locks.list))[:len(t.locks.list)] // by lock: the open gap
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
		*g = gap{lock: h.lock, begin: h.begin, from: t.at(h.begin), freed: max(g.freed, t.leaves(h)), maybe: none}
	}
	for _, g := range last {
		g.end, g.to = t.size(), t.end
		if t.longer(&g, atLeast, late) && !yield(g) {
			return
		}
	}
}

// freeFrom returns the time from which no client holds in g. ok is false if the next
// client held before.
func (t *timeline) freeFrom(g *gap) (from time.Duration, ok bool) {
	switch {
	case g.freed == none:
		return g.from, true
	case g.freed >= g.end:
		return 0, false
	}
	return max(g.from, t.at(g.freed)), true
}

// longer reports whether g is longer than atLeast. It first cuts g where the lock may
// have been granted.
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
	first int32 // of this hold and later ones, the one whose acquire was invoked first
}

// lateHolds returns the confirmed holds by lock, the last one first. Without any it
// returns nil.
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
