package models

import (
	"cmp"
	"slices"
	"sort"
)

// fenced is a register that refuses stale tokens. Tokens give all accesses one order.
type fenced struct {
	chains
	order    []int32 // accepted, certain accesses, by their tokens
	earliest []int32 // for each of them, the latest call of those up to it
	refused  []int32
	written  map[int64]bool // by uncertain writes
	possible bool           // an indeterminate access could explain a refusal
}

// judgeFenced judges a register that refuses stale tokens.
func (o *object) judgeFenced() finding {
	r := fenced{chains: chains{object: o}, written: map[int64]bool{}}
	for _, step := range []func() finding{r.sort, r.values, r.refusals} {
		if f := step(); f.outcome != legal.outcome {
			return f
		}
	}
	return legal
}

// sort puts the accesses in the order of their tokens, if they have one.
func (r *fenced) sort() finding {
	for i := range r.accesses {
		a := &r.accesses[i]
		switch {
		case a.what == refuse:
			r.refused = append(r.refused, int32(i))
		case a.token == 0:
			return undecided("an access has no token")
		case a.what == cas:
			return undecided("it has a cas")
		case a.what == write && !a.known:
			return undecided("not every write says what it wrote")
		case a.ret == never:
			r.possible = true
			r.written[a.value] = r.written[a.value] || a.what == write
		default:
			r.order = append(r.order, int32(i))
		}
	}
	slices.SortStableFunc(r.order, func(a, b int32) int {
		x, y := &r.accesses[a], &r.accesses[b]
		return cmp.Or(cmp.Compare(x.token, y.token), cmp.Compare(x.call, y.call))
	})
	for k := 1; k < len(r.order); k++ {
		x, y := &r.accesses[r.order[k-1]], &r.accesses[r.order[k]]
		if x.token == y.token && y.call < x.ret {
			return undecided("accesses with one token overlap")
		}
	}
	return legal
}

// values judges what was read, and that the order of the tokens is possible.
func (r *fenced) values() finding {
	latest, last, first := none, none, none // latest call so far; last write; first access
	r.earliest = make([]int32, len(r.order))
	for k, i := range r.order {
		a := &r.accesses[i]
		if latest != none && r.accesses[latest].call > a.ret {
			return r.stale(latest, i)
		}
		if latest == none || a.call > r.accesses[latest].call {
			latest = i
		}
		r.earliest[k] = r.accesses[latest].call
		switch {
		case a.what == write:
			last = i
		case !a.known:
		case last == none && first == none:
			first = i
		default:
			before, text := last, "%s, and %s, with nothing written in between by the order of the tokens."
			if last == none {
				before, text = first, "%s, and then %s, and nothing was written in between."
			}
			if r.accesses[before].value == a.value {
				continue
			}
			if r.written[a.value] || last == none && r.written[r.accesses[first].value] {
				return undecided("it may have been written by who got no answer")
			}
			f := violation(r.facts(before, i), text, r.doing(before), r.doing(i))
			f.absence = true
			return f
		}
	}
	return legal
}

// refusals judges the refused accesses: a larger token must have been used.
func (r *fenced) refusals() finding {
	for _, i := range r.refused {
		x := &r.accesses[i]
		if x.token == 0 {
			return undecided("an access has no token")
		}
		k := sort.Search(len(r.order), func(k int) bool { return r.accesses[r.order[k]].token > x.token })
		if k < len(r.order) && r.earliest[k] <= x.ret {
			continue
		}
		if r.possible {
			return undecided("a refusal may be due to an access without an answer")
		}
		f := violation(r.facts(i), "%s was refused with token %d (%s), and no larger token had been used by then.",
			r.whose(x), x.token, r.span(x.call, x.ret))
		f.absence = true
		return f
	}
	return legal
}

// stale returns the violation that access y was over before x was invoked, although
// the token of x is smaller.
func (c *chains) stale(x, y int32) finding {
	return violation(c.facts(x, y), "%s with token %d, and after that %s with the smaller token %d.",
		c.doing(y), c.accesses[y].token, c.doing(x), c.accesses[x].token)
}
