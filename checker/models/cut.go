package models

import (
	"cmp"
	"slices"
)

// piece is a part of an object's operations that can be judged without the others. It
// begins in a state that every explanation of the earlier operations leaves.
type piece struct {
	start state
	after []fact      // the facts that left that state
	late  []operation // optional operations from before it
	own   []operation
}

// ops returns all its operations.
func (p *piece) ops() []operation {
	if len(p.late) == 0 {
		return p.own
	}
	return append(slices.Clone(p.late), p.own...)
}

// cut cuts the operations of an object in time. It cuts where no certain operation is
// under way, and where the object is in one state and has needed no optional
// operation, whatever the explanation of the earlier ones. Optional operations are
// carried on, since they may still take effect.
func (o *object) cut() []piece {
	ops := o.operations(0, never)
	switch {
	case o.model.kind == register && !o.model.rule.fenced:
		return o.cutAccesses(ops)
	case o.model.kind == holding && o.single():
		return o.cutHolds(ops)
	}
	return []piece{{start: o.start(), own: ops}}
}

// single reports whether one hold excludes all others, so that the certain holder is
// the whole state.
func (o *object) single() bool {
	r := o.model.rule
	return !r.reentrant && !r.shared && !r.permits && !r.fifo && !o.loose()
}

// cutAccesses cuts after each access that was alone and shows the value. Earlier
// optional writes were not needed if no access saw their values. Once one may have,
// it does not cut any more.
func (o *object) cutAccesses(ops []operation) []piece {
	var pieces []piece
	var open []int32 // completions of certain accesses under way
	this := piece{start: o.start()}
	var carried []operation
	hidden := map[int64]bool{} // values of optional writes
	seen := map[int64]int32{}  // values, and until when an access may have seen them
	for i, x := range ops {
		a, rest := &o.accesses[x.n], ops[i+1:]
		this.own = append(this.own, x)
		shows, shown := a.value, a.what == read && a.known
		if a.what == cas {
			shows, shown = a.from, true
		}
		if shown {
			seen[shows] = max(seen[shows], a.ret)
		}
		// An optional one may have been needed, or may have had any value.
		if shown && hidden[shows] || x.optional && (seen[a.value] > x.call || !a.known) {
			this.own = append(this.own, rest...)
			return append(pieces, this)
		}
		if x.optional {
			carried = append(carried, x)
			hidden[a.value] = true
			continue
		}
		open = after(open, x.call)
		alone := len(open) == 0
		open = append(open, x.ret)
		// An optional access that was called meanwhile may have come after it.
		if !alone || len(rest) > 0 && rest[0].call < x.ret || !a.known || a.what == refuse {
			continue
		}
		pieces = append(pieces, this)
		this = piece{start: state{value: a.value, known: true}, after: []fact{{x.opID, a.at()}}, late: carried[:len(carried):len(carried)]}
	}
	if len(this.own) > 0 || len(pieces) == 0 {
		pieces = append(pieces, this)
	}
	return pieces
}

// after leaves out the completions before pos.
func after(open []int32, pos int32) []int32 {
	return slices.DeleteFunc(open, func(ret int32) bool { return ret <= pos })
}

// cutHolds cuts while a hold is certain and no other certain operation is under way.
// The holder is the state. An acquire without an answer cannot have had its turn, as
// it would then hold for ever: it is carried on. A release that was possible before
// has happened.
func (o *object) cutHolds(ops []operation) []piece {
	for i := range o.holds {
		if h := &o.holds[i]; !h.presupposed() && !h.void && h.end != never {
			return []piece{{own: ops}} // it may have had its turn and be over
		}
	}
	slices.SortStableFunc(ops, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	var pieces []piece
	var open []int32
	var carried []operation
	this := piece{}
	holder := none                      // the certain hold that began last
	highest, largest := none, uint64(0) // the acquire with the largest token, and that token
	for _, x := range ops {
		open = after(open, x.call-1) // a lease may end in the very line of an answer
		if holder != none && len(open) == 0 && o.holds[holder].end > x.call && len(this.own) > 0 {
			pieces = append(pieces, this)
			left := []fact{holdFact(holder, &o.holds[holder])}
			if highest != none && highest != holder {
				left = append(left, acquireFact(highest, &o.holds[highest]))
			}
			this = piece{start: state{held: pack("", holder), highest: largest}, after: left, late: carried[:len(carried):len(carried)]}
		}
		this.own = append(this.own, x)
		switch {
		case x.optional && x.kind == acquireOp:
			carried = append(carried, x)
		case !x.optional:
			open = append(open, x.ret)
		}
		if x.kind != acquireOp || x.optional {
			continue
		}
		h := &o.holds[x.n]
		if h.token > largest {
			highest, largest = x.n, h.token
		}
		if !h.momentary() && (holder == none || o.holds[holder].ret < h.ret) {
			holder = x.n
		}
	}
	return append(pieces, this)
}
