package checker

import (
	"iter"
	"sort"
)

// overlaps finds which of many spans overlap a range of positions, in O(log n) for
// each that does. A span belongs to a group: for example, those of one client, or of
// one lock.
type overlaps struct {
	first []int32 // by group: its first place; at the end, the number of places
	// By place, which are in the order of groups, and in each group of the begins: the
	// span, and its first and last position.
	ids, begin, end []int32
	last            []int32 // a tree: leaves are the last ends of blocks, other nodes the maximum of their subtrees
	half            int     // the number of leaves, a power of two
}

// block is how many spans share a leaf.
const block = 16

// newOverlaps indexes n spans, which come in the order of their begins. of returns the
// group of a span, from 0, and its first and last position. The group none leaves the
// span out.
func newOverlaps(s *scratch, groups, n int, of func(id int32) (group, begin, end int32)) overlaps {
	o := overlaps{first: s.zeros(groups + 1), half: 1}
	for i := range int32(n) {
		if g, _, _ := of(i); g != none {
			o.first[g]++
		}
	}
	sum := int32(0)
	for g, count := range o.first {
		o.first[g], sum = sum, sum+count
	}
	o.ids, o.begin, o.end = s.zeros(int(sum)), s.zeros(int(sum)), s.zeros(int(sum))
	for i := range int32(n) {
		if g, begin, end := of(i); g != none {
			at := o.first[g]
			o.ids[at], o.begin[at], o.end[at] = i, begin, end
			o.first[g]++ // it is now where the next group begins
		}
	}
	copy(o.first[1:], o.first)
	o.first[0] = 0
	for o.half*block < len(o.ids) {
		o.half *= 2
	}
	o.last = s.zeros(2 * o.half)
	for i := range o.last {
		o.last[i] = none
	}
	for at, end := range o.end {
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
	high = low + sort.Search(high-low, func(i int) bool { return o.begin[low+i] > to })
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
	for i := max(low, at); i < min(high, at+size); i++ {
		if o.end[i] >= from && fits(o.ids[i]) {
			return true
		}
	}
	return false
}
