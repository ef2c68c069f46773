package checker

import (
	"cmp"
	"slices"
)

// spans returns the finder of a kind of spans.
func (t *timeline) spans(k spanKind) *overlaps {
	o := &t.finders.of[k]
	if o.first == nil {
		groups, n := t.sizes(k)
		*o = newOverlaps(&t.scratch, groups, n, func(i int32) (int32, int32, int32) { return t.span(k, i) })
	}
	return o
}

// sizes returns how many groups and spans of a kind there are.
func (t *timeline) sizes(k spanKind) (groups, spans int) {
	switch k {
	case holdsOn:
		return len(t.locks.list), len(t.holds)
	case waitsOn:
		return len(t.locks.list), len(t.waits)
	case opsOf, acquiresOf, anyOp:
		return max(1, len(t.clients)), len(t.ops)
	}
	return max(1, len(t.clients)), len(t.holds)
}

// span returns the group, the begin and the end of a span. The group none leaves it out.
func (t *timeline) span(k spanKind, i int32) (group, begin, end int32) {
	switch k {
	case holdsOn:
		h := &t.holds[i]
		return h.lock, h.begin, h.end
	case waitsOn:
		w := &t.waits[i]
		return w.lock, w.begin, w.end
	case opsOf, acquiresOf, anyOp:
		o := &t.ops[i]
		switch {
		case k == acquiresOf && o.verb != acquire:
			group = none
		case k != anyOp:
			group = t.clientOf(i)
		}
		return group, o.invoke, t.endOf(o)
	}
	h := &t.holds[i]
	switch {
	case h.stillborn() && (k == heldOf || k == anyHeld):
		group = none
	case k == holdsOf || k == heldOf:
		group = t.procs[h.proc].client
	}
	return group, h.begin, h.end
}

// met reports whether a span of a group overlaps two positions.
func (t *timeline) met(k spanKind, group, from, to int32) bool {
	f := &t.finders
	if f.of[k].first != nil || f.scans[k] == fewScans {
		return t.spans(k).some(group, from, to, func(int32) bool { return true })
	}
	f.scans[k]++
	_, n := t.sizes(k)
	for i := range int32(n) {
		if g, begin, end := t.span(k, i); begin > to {
			return false
		} else if g == group && end >= from {
			return true
		}
	}
	return false
}

func (t *timeline) findStrikes() *overlaps {
	if t.finders.strikes.first == nil {
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
		t.finders.struck = list
		t.finders.strikes = newOverlaps(&t.scratch, len(t.clients), len(list), func(i int32) (int32, int32, int32) {
			s := &t.finders.struck[i]
			return s.client, s.sure, s.end
		})
	}
	return &t.finders.strikes
}
