package history

import (
	"cmp"
	"math/bits"
	"slices"
)

// A history of millions of lines is judged as a stream. These types keep the
// memory for each line small.

// numbers is a set of integers that are added in growing order, like indices.
// Dense numbers take about two bits each.
type numbers struct{ words []word64 }

type word64 struct {
	at   int64 // of the lowest bit, divided by 64
	bits uint64
}

func (s *numbers) add(n int64) {
	at, bit := n>>6, uint64(1)<<(n&63)
	if last := len(s.words) - 1; last >= 0 && s.words[last].at == at {
		s.words[last].bits |= bit
		return
	}
	s.words = append(s.words, word64{at, bit})
}

func (s *numbers) has(n int64) bool {
	i, ok := slices.BinarySearchFunc(s.words, n>>6, func(w word64, at int64) int { return cmp.Compare(w.at, at) })
	return ok && s.words[i].bits&(1<<(n&63)) != 0
}

// grantIndex has the index of the line of each grant. Grants are mostly numbered
// in order; the map has the others.
type grantIndex struct {
	grown []grantLine
	rest  map[int]int
}

type grantLine struct{ n, index int }

// add stores grant n. If it exists already it returns its index and true.
func (g *grantIndex) add(n, index int) (before int, used bool) {
	if last := len(g.grown) - 1; last < 0 || g.grown[last].n < n {
		g.grown = append(g.grown, grantLine{n, index})
		return 0, false
	}
	if before, used = g.index(n); used {
		return before, true
	}
	if g.rest == nil {
		g.rest = map[int]int{}
	}
	g.rest[n] = index
	return 0, false
}

func (g *grantIndex) index(n int) (int, bool) {
	if last := len(g.grown) - 1; last < 0 || g.grown[last].n < n {
		return 0, false
	}
	if i, ok := slices.BinarySearchFunc(g.grown, n, func(e grantLine, n int) int { return cmp.Compare(e.n, n) }); ok {
		return g.grown[i].index, true
	}
	index, ok := g.rest[n]
	return index, ok
}

// table has a value for each process. Nearly all histories number processes from
// 0 or 1 without large gaps.
type table[T any] struct {
	low   []*T
	rest  map[int]*T
	count int
}

// at returns the value of process n, or nil.
func (t *table[T]) at(n int) *T {
	if uint(n) < uint(len(t.low)) && t.low[n] != nil {
		return t.low[n]
	}
	if t.rest == nil {
		return nil
	}
	return t.rest[n]
}

func (t *table[T]) set(n int, v *T) {
	t.count++
	if n >= 0 && n < 1024+8*t.count {
		if n >= len(t.low) {
			t.low = append(t.low, make([]*T, 1<<bits.Len(uint(n|63))-len(t.low))...)
		}
		t.low[n] = v
		return
	}
	if t.rest == nil {
		t.rest = map[int]*T{}
	}
	t.rest[n] = v
}
