package checker

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// fairness, for locks that promise order: no acquire overtakes one that is in the
// queue throughout, and no acquire starves.
//
// c1 is before c2 if the line that gave it a place in the queue precedes the invoke
// of c2's acquire, or if the store gave it the smaller number. It is overtaken if it
// still waits there when c2's acquire comes back ok, or, if that had no answer, when a later
// line confirms its grant: its own has not come back, its
// client lives, and its place was not lost. An acquire without a line that gave it a
// place is neither overtaken nor does it starve.
func fairness(t *timeline) Verdict {
	if !t.head.Order && len(t.places) == 0 {
		return notApplicable(Fairness, "the lock does not promise order (the header's \"order\"), and no acquire says when it had a place in the queue (queued)")
	}
	if w := t.overtaking(); w != nil {
		return violated(Fairness, w)
	}
	if w := t.starving(); w != nil {
		return violated(Fairness, w)
	}
	if len(t.places) == 0 {
		return unknown(Fairness, "no acquire says when it had a place in the queue (queued), so it is unknown who was overtaken")
	}
	return valid(Fairness)
}

// overtaking returns the witness that an acquire was overtaken, or nil.
func (t *timeline) overtaking() *Witness {
	if len(t.places) == 0 {
		return nil
	}
	t.settlePlaces()
	// By lock: the open places, with the earliest on top, and those with the smallest
	// number on top.
	lines, numbers := make([]heap, len(t.locks.list)), make([]heap, len(t.locks.list))
	placeOf := t.scratch.zeros(len(t.ops)) // by acquire: 1 + its last place so far
	next := 0
	for i := range t.holds {
		h := &t.holds[i]
		for ; next < len(t.places) && t.places[next].from < h.begin; next++ {
			x := &t.places[next]
			l := t.ops[x.op].lock
			placeOf[x.op] = int32(next) + 1
			lines[l].push(int64(x.from), int32(next))
			if x.number.Set {
				numbers[l].push(x.number.V, int32(next))
			}
		}
		if !t.comesFromTheQueue(h) {
			continue
		}
		o := &t.ops[h.op]
		gone := func(id int32) bool { return t.places[id].to <= h.begin }
		id := lines[h.lock].first(int64(o.invoke), gone, func(id int32) bool { return t.mayPass(h, id) })
		if id != none && !t.goesOn(h.lock) {
			return t.overtook(h, none, id)
		}
		own := placeOf[h.op] - 1
		if own == none || !t.places[own].number.Set {
			continue
		}
		y := &t.places[own]
		id = numbers[h.lock].first(y.number.V, gone, func(id int32) bool {
			// Numbers are comparable only if both were in the queue at the same time:
			// a store that has lost its data numbers anew.
			x := &t.places[id]
			return t.mayPass(h, id) || y.from < t.ops[x.op].invoke || y.to <= x.from
		})
		if id != none && !t.goesOn(h.lock) {
			return t.overtook(h, own, id)
		}
	}
	return nil
}

// mayPass reports whether h and the acquire in a place may be granted in any order:
// they are of one client, or share the lock.
func (t *timeline) mayPass(h *hold, id int32) bool {
	o := &t.ops[t.places[id].op]
	return t.procs[o.proc].client == t.procs[h.proc].client || o.shared && t.ops[h.op].shared
}

// overtook returns the witness that h overtook the acquire in place id: by the number
// of its own place, or because it was invoked later.
func (t *timeline) overtook(h *hold, own, id int32) *Witness {
	x := &t.places[id]
	o := &t.ops[x.op]
	second, first := t.pair(h.proc, o.proc)
	entries, late := []int32{x.from, t.ops[h.op].invoke, h.begin}, "asked only at "+t.when(t.ops[h.op].invoke)
	number := ""
	if own != none {
		y := &t.places[own]
		entries[1] = y.from
		number = fmt.Sprintf(" with number %d", x.number.V)
		late = fmt.Sprintf("had number %d", y.number.V)
	}
	end := "and " + first + " still waited"
	if o.outcome == history.OK {
		entries = append(entries, o.done)
		end = first + " only at " + t.when(o.done)
	}
	return witness(entries, "%s was in the queue for %s%s from %s on, and %s, who %s, %s it at %s, %s.",
		first, t.lockName(h.lock), number, t.when(x.from), second, late, t.got(h), t.when(h.begin), end)
}
