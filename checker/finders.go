package checker

import (
	"cmp"
	"slices"
	"sort"
)

// finder makes a finder on its first use.
func (t *timeline) finder(f **overlaps, groups, n int, of spanOf) *overlaps {
	if *f == nil {
		*f = newOverlaps(&t.scratch, groups, n, of)
	}
	return *f
}

// findHoldsOn finds holds by their locks.
func (t *timeline) findHoldsOn() *overlaps {
	if t.find.holdsOn != nil { // so that the function below is not made again
		return t.find.holdsOn
	}
	return t.finder(&t.find.holdsOn, len(t.locks.list), len(t.holds), func(i int32) (int32, int32, int32) {
		h := &t.holds[i]
		return h.lock, h.begin, h.end
	})
}

// findHeldOf finds holds by their clients, except those that ended before they began.
func (t *timeline) findHeldOf() *overlaps {
	if t.find.heldOf != nil { // so that the function below is not made again
		return t.find.heldOf
	}
	return t.finder(&t.find.heldOf, len(t.clients), len(t.holds), func(i int32) (int32, int32, int32) {
		h := &t.holds[i]
		if h.stillborn() {
			return none, 0, 0
		}
		return t.procs[h.proc].client, h.begin, h.end
	})
}

// findWaitsOn finds waits by their locks.
func (t *timeline) findWaitsOn() *overlaps {
	if t.find.waitsOn != nil { // so that the function below is not made again
		return t.find.waitsOn
	}
	return t.finder(&t.find.waitsOn, len(t.locks.list), len(t.waits), func(i int32) (int32, int32, int32) {
		w := &t.waits[i]
		return w.lock, w.begin, w.end
	})
}

func (t *timeline) findStrikes() *overlaps {
	if t.find.strikes == nil {
		list := []strike{}
		for i := range t.faults {
			f := &t.faults[i]
			if !f.kind.idles() {
				continue
			}
			for _, name := range t.entry(f.start).On {
				if c := t.names.find(name); c != none {
					list = append(list, strike{c, f.sure, f.heals})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b strike) int { return cmp.Compare(a.sure, b.sure) })
		t.find.struck = list
	}
	return t.finder(&t.find.strikes, len(t.clients), len(t.find.struck), func(i int32) (int32, int32, int32) {
		s := &t.find.struck[i]
		return s.client, s.sure, s.end
	})
}

// clientsOf calls yield for each client that f acts on and that has a line, until
// yield returns false.
func (t *timeline) clientsOf(f *fault, yield func(client int32) bool) {
	for _, name := range t.entry(f.start).On {
		if c := t.names.find(name); c != none && !yield(c) {
			return
		}
	}
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

// span is the client of a span, and its first and last position. The end is none if
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
		*of = t.newOrder(k, n)
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

// newOrder orders n spans of a kind, which come in the order of their begins, by
// their clients.
func (t *timeline) newOrder(k spanKind, n int) order {
	o := order{t.scratch.zeros(len(t.clients) + 1), t.scratch.zeros(n)}
	for i := range int32(n) {
		o.first[t.span(k, i).client]++
	}
	sum := int32(0)
	for g, count := range o.first {
		o.first[g] = sum
		sum += count
	}
	next := t.scratch.zeros(len(t.clients))
	for i := range int32(n) {
		g := t.span(k, i).client
		o.ids[o.first[g]+next[g]] = i
		next[g]++
	}
	return o
}
