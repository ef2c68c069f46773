package checker

import (
	"cmp"
	"slices"
)

// spans returns the finder of a kind of spans.
func (t *timeline) spans(k spanKind) *overlaps {
	o := &t.finders.of[k]
	if o.first == nil {
		*o = t.newFinder(k)
	}
	return o
}

func (t *timeline) newFinder(k spanKind) overlaps {
	switch k {
	case holdsOn:
		return newOverlaps(&t.scratch, len(t.locks.list), len(t.holds), func(i int32) (int32, int32, int32) {
			h := &t.holds[i]
			return h.lock, h.begin, h.end
		})
	case waitsOn:
		return newOverlaps(&t.scratch, len(t.locks.list), len(t.waits), func(i int32) (int32, int32, int32) {
			w := &t.waits[i]
			return w.lock, w.begin, w.end
		})
	case opsOf, acquiresOf, anyOp:
		return newOverlaps(&t.scratch, max(1, len(t.clients)), len(t.ops), func(i int32) (client, begin, end int32) {
			o := &t.ops[i]
			switch {
			case k == acquiresOf && o.verb != acquire:
				client = none
			case k != anyOp:
				client = t.clientOf(i)
			}
			return client, o.invoke, t.endOf(o)
		})
	}
	return newOverlaps(&t.scratch, max(1, len(t.clients)), len(t.holds), func(i int32) (client, begin, end int32) {
		h := &t.holds[i]
		switch {
		case h.stillborn() && (k == heldOf || k == anyHeld):
			client = none
		case k == holdsOf || k == heldOf:
			client = t.procs[h.proc].client
		}
		return client, h.begin, h.end
	})
}

// met reports whether a span of a group overlaps two positions.
func (t *timeline) met(k spanKind, group, from, to int32) bool {
	return t.spans(k).some(group, from, to, func(int32) bool { return true })
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
