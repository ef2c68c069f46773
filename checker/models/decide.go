package models

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// decide leaves the decision to Porcupine, piece by piece. reason says why.
func (o *object) decide(b *budget, reason string) finding {
	pieces := o.cut()
	open, why, decided := piece{}, "", 0
	for _, p := range pieces {
		out, reason := b.search(o, p.ops(), p.start, b.most)
		switch out {
		case checker.Violated:
			return o.reduce(b, p)
		case checker.Unknown:
			if why == "" {
				open, why = p, reason
			}
		default:
			decided++
		}
	}
	if why == "" {
		return legal
	}
	f := undecided(fmt.Sprintf("%s, so Porcupine had to search for an order of %s, and %s", reason, o.span(extent(open.own)), why))
	f.limited = true
	if n := len(pieces); n > 1 {
		f.reason += fmt.Sprintf("; %d of %d parts in time are decided, and valid", decided, n)
	} else {
		f.reason += "; nothing is decided"
	}
	if len(o.locks) > 1 {
		f.reason += " of " + o.named(o.lock)
	}
	return f
}

// The limits for making a witness smaller, in steps of Porcupine.
const (
	reduceSteps = 1_000_000 // in all
	tryReducing = 50_000    // for each search
)

// reduce makes a witness of a piece for which Porcupine found no order. It has as few
// operations as can be found; all others are optional.
func (o *object) reduce(b *budget, p piece) finding {
	until := b.steps + reduceSteps
	ops := slices.Clone(p.ops())
	illegal := func(list []operation) bool {
		if b.steps > until {
			return false
		}
		out, _ := b.search(o, list, p.start, tryReducing)
		return out == checker.Violated
	}
	// Operations after the first completion without an explanation are not needed.
	var ends []int32
	for _, x := range ops {
		if !x.optional {
			ends = append(ends, x.ret)
		}
	}
	slices.Sort(ends)
	before := func(end int32) (list []operation) {
		for _, x := range ops {
			if x.call >= end || !x.optional && x.ret > end && !o.relax(&x) {
				continue
			}
			list = append(list, x)
		}
		return list
	}
	low, high := 0, len(ends)-1
	for low < high {
		if mid := (low + high) / 2; illegal(before(ends[mid] + 1)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if len(ends) > 0 {
		if list := before(ends[high] + 1); illegal(list) {
			ops = list
		}
	}
	for size := (len(ops) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(ops); at += size {
			var list []operation
			fewer := false
			for k, x := range ops {
				if k >= at && k < at+size && !x.optional {
					fewer = true
					if !o.relax(&x) {
						continue
					}
				}
				list = append(list, x)
			}
			if fewer && illegal(list) {
				if len(list) < len(ops) {
					at -= size
				}
				ops = list
			}
		}
	}
	facts := slices.Clone(p.after)
	for _, x := range ops {
		if !x.optional {
			at := []int32{x.call}
			if x.ret != x.call {
				at = append(at, x.ret)
			}
			facts = append(facts, fact{x.opID, at})
		}
	}
	f := finding{outcome: checker.Violated, facts: facts, sentence: o.noOrder(facts)}
	f.absence = true
	if p.after == nil {
		f.start = p.start
	}
	return f
}
