package checker

import (
	"cmp"
	"slices"
	"sort"
)

// overlaps finds which of many spans overlap a range of positions, in O(log n) for
// each that does. A span belongs to a group: for example, those of one client, or of
// one lock.
type overlaps struct {
	of    spanOf
	first []int32 // by group: its first place in ids; at the end, the number of ids
	ids   []int32 // by group, and in each in the order of the begins
	last  []int32 // a tree: leaves are the last ends of blocks, other nodes the maximum of their subtrees
	half  int     // the number of leaves, a power of two
}

// spanOf returns the group of a span, from 0, and its first and last position. The
// group none leaves the span out.
type spanOf func(id int32) (group, begin, end int32)

// block is how many spans share a leaf.
const block = 16

// newOverlaps indexes n spans, which come in the order of their begins.
func newOverlaps(s *scratch, groups, n int, of spanOf) *overlaps {
	o := &overlaps{of: of, first: s.zeros(groups + 1), half: 1}
	for i := range int32(n) {
		if g, _, _ := of(i); g != none {
			o.first[g]++
		}
	}
	sum := int32(0)
	for g, count := range o.first {
		o.first[g] = sum
		sum += count
	}
	for o.half*block < int(sum) {
		o.half *= 2
	}
	o.ids, o.last = s.zeros(int(sum)), s.zeros(2*o.half)
	for i := range o.last {
		o.last[i] = none
	}
	next := s.zeros(groups)
	for i := range int32(n) {
		g, _, end := of(i)
		if g == none {
			continue
		}
		at := o.first[g] + next[g]
		next[g]++
		leaf := o.half + int(at)/block
		o.ids[at], o.last[leaf] = i, max(o.last[leaf], end)
	}
	for node := o.half - 1; node > 0; node-- {
		o.last[node] = max(o.last[2*node], o.last[2*node+1])
	}
	return o
}

// group returns the spans of a group, in the order of their begins.
func (o *overlaps) group(g int32) []int32 { return o.ids[o.first[g]:o.first[g+1]] }

// each calls yield for each span of a group that begins at to or before and ends at
// from or later, in the order of their begins, until yield returns false.
func (o *overlaps) each(group, from, to int32, yield func(id int32) bool) {
	low, high := int(o.first[group]), int(o.first[group+1])
	high = low + sort.Search(high-low, func(i int) bool {
		_, begin, _ := o.of(o.ids[low+i])
		return begin > to
	})
	if low < high {
		o.walk(1, 0, o.half*block, low, high, from, yield)
	}
}

// walk visits the places from low to high below a node that covers size places from
// at on.
func (o *overlaps) walk(node, at, size, low, high int, from int32, yield func(id int32) bool) bool {
	switch {
	case at >= high || at+size <= low || o.last[node] < from:
		return true
	case size > block:
		size /= 2
		return o.walk(2*node, at, size, low, high, from, yield) && o.walk(2*node+1, at+size, size, low, high, from, yield)
	}
	for _, id := range o.ids[max(low, at):min(high, at+size)] {
		if _, _, end := o.of(id); end >= from && !yield(id) {
			return false
		}
	}
	return true
}

// furthest reports whether one of many spans overlaps a range of positions, in O(log
// n). It takes less time to build than overlaps.
type furthest struct {
	order
	last []int32 // by place: the last end of the spans of the group up to there
}

// order is an order by groups: one for each client, or one group for all.
type order struct {
	first []int32 // by group: its first place; at the end, the number of ids
	ids   []int32 // nil: the places are the ids
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

// id returns the id at a place.
func (o *order) id(at int) int32 {
	if o.ids == nil {
		return int32(at)
	}
	return o.ids[at]
}

// finders find the operations and holds under way at some time. Each is made when it
// is first needed.
type finders struct {
	holdsOn, heldOf, waitsOn, strikes *overlaps
	struck                            []strike

	exist          [numKinds][2]furthest
	opsOf, holdsOf order // by client: operations, holds
}

// spanKind is a kind of span that a fault can meet.
type spanKind uint8

const (
	holdSpan    spanKind = iota
	heldSpan             // a hold that did not end before it began
	opSpan               // an operation
	acquireSpan          // an acquire
	numKinds
)

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

// strike is a fault on a client that may keep its holds.
type strike struct{ client, sure, end int32 }

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
