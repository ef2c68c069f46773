package checker

import "sort"

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

// id returns the id at a place.
func (o *order) id(at int) int32 {
	if o.ids == nil {
		return int32(at)
	}
	return o.ids[at]
}
