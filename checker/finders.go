package checker

import (
	"cmp"
	"slices"
	"sort"
)

// findHoldsOn finds holds by their locks.
func (t *timeline) findHoldsOn() *overlaps {
	if t.find.holdsOn == nil {
		t.find.holdsOn = newOverlaps(&t.scratch, len(t.locks.list), len(t.holds), func(i int32) (int32, int32, int32) {
			h := &t.holds[i]
			return h.lock, h.begin, h.end
		})
	}
	return t.find.holdsOn
}

// findHeldOf finds holds by their clients, except those that ended before they began.
func (t *timeline) findHeldOf() *overlaps {
	if t.find.heldOf == nil {
		t.find.heldOf = newOverlaps(&t.scratch, len(t.clients), len(t.holds), func(i int32) (int32, int32, int32) {
			h := &t.holds[i]
			if h.stillborn() {
				return none, 0, 0
			}
			return t.procs[h.proc].client, h.begin, h.end
		})
	}
	return t.find.heldOf
}

// findWaitsOn finds waits by their locks.
func (t *timeline) findWaitsOn() *overlaps {
	if t.find.waitsOn == nil {
		t.find.waitsOn = newOverlaps(&t.scratch, len(t.locks.list), len(t.waits), func(i int32) (int32, int32, int32) {
			w := &t.waits[i]
			return w.lock, w.begin, w.end
		})
	}
	return t.find.waitsOn
}

func (t *timeline) findStrikes() *overlaps {
	if t.find.strikes == nil {
		var list []strike
		for i := range t.faults {
			f := &t.faults[i]
			if !f.kind.idles() {
				continue
			}
			for c := range t.clientsOf(f) {
				list = append(list, strike{c, f.sure, f.heals})
			}
		}
		slices.SortStableFunc(list, func(a, b strike) int { return cmp.Compare(a.sure, b.sure) })
		t.find.struck = list
		t.find.strikes = newOverlaps(&t.scratch, len(t.clients), len(list), func(i int32) (int32, int32, int32) {
			s := &t.find.struck[i]
			return s.client, s.sure, s.end
		})
	}
	return t.find.strikes
}

// met reports whether a span of a kind overlaps two positions.
func (t *timeline) met(k spanKind, from, to int32) bool {
	return t.any(t.existing(k, false), k, 0, from, to)
}

// metOf reports whether a span of a kind, of a client, overlaps two positions.
func (t *timeline) metOf(client int32, k spanKind, from, to int32) bool {
	return t.any(t.existing(k, true), k, client, from, to)
}

// any reports whether a span of the group begins at to or before and ends at from or later.
func (t *timeline) any(f *furthest, k spanKind, group, from, to int32) bool {
	low, high := int(f.first[group]), int(f.first[group+1])
	n := sort.Search(high-low, func(i int) bool { return t.span(k, f.id(low+i)).begin > to })
	return n > 0 && f.last[low+n-1] >= from
}

// span is the client of a span, and its first and last position. The end is missing if
// it is not of the requested kind.
type span struct{ client, begin, end int32 }

func (t *timeline) span(k spanKind, i int32) span {
	if k == holdSpan || k == heldSpan {
		h := &t.holds[i]
		s := span{t.procs[h.proc].client, h.begin, h.end}
		if k == heldSpan && h.stillborn() {
			s.end = none
		}
		return s
	}
	o := &t.ops[i]
	s := span{t.clientOf(i), o.invoke, none}
	if k == opSpan || o.verb == acquire {
		s.end = t.endOf(o)
	}
	return s
}

// existing returns a finder for spans of a kind, grouped by client or in one group.
func (t *timeline) existing(k spanKind, byClient bool) *furthest {
	f := &t.find.exist[k][0]
	if byClient {
		f = &t.find.exist[k][1]
	}
	if f.last != nil {
		return f
	}
	n, of := len(t.ops), &t.find.opsOf
	if k == holdSpan || k == heldSpan {
		n, of = len(t.holds), &t.find.holdsOf
	}
	switch {
	case !byClient:
		f.first = t.scratch.zeros(2)
		f.first[1] = int32(n)
	case of.first == nil:
		*of = newOrder(&t.scratch, len(t.clients), n, func(i int32) (client, _, _ int32) { return t.span(k, i).client, 0, 0 })
		fallthrough
	default:
		f.order = *of
	}
	f.last = t.scratch.zeros(n)
	for g := range len(f.first) - 1 {
		last := none
		for at := f.first[g]; at < f.first[g+1]; at++ {
			last = max(last, t.span(k, f.id(int(at))).end)
			f.last[at] = last
		}
	}
	return f
}
