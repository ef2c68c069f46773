package models

import (
	"cmp"
	"slices"
)

// judgeFenced judges a register that refuses stale tokens. Tokens give all accesses
// one order.
func (o *object) judgeFenced() finding {
	var order []int32 // accepted, certain accesses
	var refused []int32
	written := map[int64]bool{} // by uncertain writes
	possible := false           // an indeterminate access could explain a refusal
	for i := range o.accesses {
		a := &o.accesses[i]
		switch {
		case a.what == refuse:
			refused = append(refused, int32(i))
		case a.token == 0:
			return undecided("an access has no token")
		case a.what == cas:
			return undecided("it has a cas")
		case a.what == write && !a.known:
			return undecided("not every write says what it wrote")
		case a.ret == never:
			possible = true
			written[a.value] = written[a.value] || a.what == write
		default:
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &o.accesses[a], &o.accesses[b]
		return cmp.Or(cmp.Compare(x.token, y.token), cmp.Compare(x.call, y.call))
	})
	for k := 1; k < len(order); k++ {
		x, y := &o.accesses[order[k-1]], &o.accesses[order[k]]
		if x.token == y.token && y.call < x.ret {
			return undecided("accesses with one token overlap")
		}
	}
	f := finding{outcome: legal.outcome}
	latest, last, first := none, none, none // latest call so far; last write; first access
	c := chains{object: o, list: o.accesses, shownBy: map[int32]int32{}}
	earliest := make([]int32, len(order))
	for k, i := range order {
		a := &o.accesses[i]
		if latest != none && o.accesses[latest].call > a.ret {
			return c.stale(latest, i)
		}
		if latest == none || a.call > o.accesses[latest].call {
			latest = i
		}
		earliest[k] = o.accesses[latest].call
		switch {
		case a.what == write:
			last = i
		case !a.known:
		case last == none && first == none:
			first = i
		case last == none && o.accesses[first].value != a.value:
			if written[a.value] || written[o.accesses[first].value] {
				return undecided("it may have been written by who got no answer")
			}
			f = violation(c.facts(first, i), "%s, and then %s, and nothing was written in between.", c.doing(first), c.doing(i))
			f.absence = true
			return f
		case last != none && o.accesses[last].value != a.value:
			if written[a.value] {
				return undecided("it may have been written by who got no answer")
			}
			f = violation(c.facts(last, i), "%s, and %s, with nothing written in between by the order of the tokens.", c.doing(last), c.doing(i))
			f.absence = true
			return f
		}
	}
	for _, i := range refused {
		r := &o.accesses[i]
		if r.token == 0 {
			return undecided("an access has no token")
		}
		above := func(k int32, _ struct{}) int { // the first accepted access with a larger token
			if o.accesses[k].token > r.token {
				return 1
			}
			return -1
		}
		k, _ := slices.BinarySearchFunc(order, struct{}{}, above)
		if k < len(order) && earliest[k] <= r.ret {
			continue
		}
		if possible {
			return undecided("a refusal may be due to an access without an answer")
		}
		f = violation([]fact{{opID{accessOp, i}, r.at()}}, "%s was refused with token %d (%s), and no larger token had been used by then.",
			c.whose(r), r.token, c.j.span(r.call, r.ret))
		f.absence = true
		return f
	}
	return f
}

// stale returns the violation that access y was over before x was invoked, although
// the token of x is smaller.
func (c *chains) stale(x, y int32) finding {
	return violation(c.facts(x, y), "%s with token %d, and after that %s with the smaller token %d.",
		c.doing(y), c.list[y].token, c.doing(x), c.list[x].token)
}

func (c *chains) whose(a *access) string {
	if a.proc == none {
		return "an access"
	}
	return c.j.who(a.proc)
}
