package checker

import (
	"iter"
	"sort"
)

// overlaps finds which of many spans overlap a range of positions, in O(log n) for
// each that does. A span belongs to a group: for example, those of one client, or of
// one lock.
type overlaps struct {
	order
	of   spanOf
	last []int32 // a tree: leaves are the last ends of blocks, other nodes the maximum of their subtrees
	half int     // the number of leaves, a power of two
}

// spanOf returns the group of a span, from 0, and its first and last position. The
// group none leaves the span out.
type spanOf func(id int32) (group, begin, end int32)

// block is how many spans share a leaf.
const block = 16

// newOverlaps indexes n spans, which come in the order of their begins.
func newOverlaps(s *scratch, groups, n int, of spanOf) *overlaps {
	o := &overlaps{order: newOrder(s, groups, n, of), of: of, half: 1}
	for o.half*block < len(o.ids) {
		o.half *= 2
	}
	o.last = s.zeros(2 * o.half)
	for i := range o.last {
		o.last[i] = none
	}
	for at, id := range o.ids {
		_, _, end := of(id)
		leaf := o.half + at/block
		o.last[leaf] = max(o.last[leaf], end)
	}
	for node := o.half - 1; node > 0; node-- {
		o.last[node] = max(o.last[2*node], o.last[2*node+1])
	}
	return o
}

// group returns the spans of a group, in the order of their begins.
func (o *overlaps) group(g int32) []int32 { return o.ids[o.first[g]:o.first[g+1]] }

// each yields the spans of a group that begin at to or before and end at from or
// later, in the order of their begins.
func (o *overlaps) each(group, from, to int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		o.some(group, from, to, func(id int32) bool { return !yield(id) })
	}
}

// some reports whether one of these spans fits. It asks no further after the first.
func (o *overlaps) some(group, from, to int32, fits func(id int32) bool) bool {
	low, high := int(o.first[group]), int(o.first[group+1])
	high = low + sort.Search(high-low, func(i int) bool {
		_, begin, _ := o.of(o.ids[low+i])
		return begin > to
	})
	return low < high && o.walk(1, 0, o.half*block, low, high, from, fits)
}

// walk is some for the places from low to high below a node that covers size places
// from at on.
func (o *overlaps) walk(node, at, size, low, high int, from int32, fits func(id int32) bool) bool {
	switch {
	case at >= high || at+size <= low || o.last[node] < from:
		return false
	case size > block:
		size /= 2
		return o.walk(2*node, at, size, low, high, from, fits) || o.walk(2*node+1, at+size, size, low, high, from, fits)
	}
	for _, id := range o.ids[max(low, at):min(high, at+size)] {
		if _, _, end := o.of(id); end >= from && fits(id) {
			return true
		}
	}
	return false
}

// furthest reports whether one of many spans overlaps a range of positions, in O(log
// n). It takes less time to build than overlaps.
type furthest struct {
	order
	last []int32 // by place: the last end of the spans of the group up to there
}

// order is an order by groups, and in each group by the begins.
type order struct {
	first []int32 // by group: its first place; at the end, the number of ids
	ids   []int32 // nil: the places are the ids
}

// newOrder orders n spans, which come in the order of their begins.
func newOrder(s *scratch, groups, n int, of spanOf) order {
	o := order{first: s.zeros(groups + 1)}
	for i := range int32(n) {
		if g, _, _ := of(i); g != none {
			o.first[g]++
		}
	}
	sum := int32(0)
	for g, count := range o.first {
		o.first[g], sum = sum, sum+count
	}
	o.ids = s.zeros(int(sum))
	for i := range int32(n) {
		if g, _, _ := of(i); g != none {
			o.ids[o.first[g]] = i
			o.first[g]++ // it is now where the next group begins
		}
	}
	copy(o.first[1:], o.first)
	o.first[0] = 0
	return o
}

// id returns the id at a place.
func (o *order) id(at int) int32 {
	if o.ids == nil {
		return int32(at)
	}
	return o.ids[at]
}
