package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// outlasted reports whether another client wanted the lock after a lease had run out
// that its client had not released.
func (e *exposure) outlasted() bool {
	return e.lapsed(func(l *lapse) bool {
		last := e.lastDeed(l)
		return l.pos < last && e.wantedByOther(e.ops[l.op].lock, e.clientOf(l.op), l.pos, last)
	})
}

// wentOn reports whether another client was granted the lock after a lease had run
// out, and before the last act of its client.
func (e *exposure) wentOn() bool {
	return e.lapsed(func(l *lapse) bool {
		return e.grantBetween(e.ops[l.op].lock, e.clientOf(l.op), l.pos, e.lastDeed(l))
	})
}

// diedWanted reports whether a client died that held the lock or had an operation on
// it open or in doubt, and another client wanted that lock then or later.
func (e *exposure) diedWanted() bool {
	died := func(lock, client, from, to int32) (found bool) {
		e.strikes(client, from, e.size(), func(f *fault) bool {
			if from >= f.start {
				return false
			}
			found = to >= f.struck && e.wantedByOther(lock, client, f.start-1, e.size())
			return true // a client dies once
		})
		return found
	}
	for i := range e.ops {
		if o := &e.ops[i]; o.locks() && died(o.lock, e.clientOf(int32(i)), o.invoke, e.lastEffect(o)) {
			return true
		}
	}
	for i := range e.holds {
		if h := &e.holds[i]; !h.stillborn() && died(h.lock, e.procs[h.proc].client, h.begin, h.end) {
			return true
		}
	}
	return false
}

func (e *exposure) disturbed() bool { return e.interrupted(func(int32) bool { return true }) }

// disturbedContested reports whether the disturbance mattered to another client, or a
// lease ran out.
func (e *exposure) disturbedContested() bool {
	return e.outlasted() || e.interrupted(e.contested)
}

// interrupted reports whether the fault hit an operation that fits: one with an
// uncertain result, a release, an extend, or an acquire while no other client held
// the lock.
func (e *exposure) interrupted(fits func(op int32) bool) bool {
	for i := range e.ops {
		o, client := &e.ops[i], e.clientOf(int32(i))
		if !o.locks() {
			continue
		}
		end := e.endOf(o)
		hit := e.strikes(client, o.invoke, end, func(f *fault) bool {
			return (!f.hits.Set || f.hits.V > 0) &&
				(o.verb != acquire || o.outcome == history.Info ||
					!e.coveredByOther(o.lock, client, max(o.invoke, f.start), min(end, f.end)))
		})
		if hit && fits(int32(i)) {
			return true
		}
	}
	return false
}

// contested reports whether another client held or waited while an operation was
// open, or during the hold that it got.
func (e *exposure) contested(op int32) bool {
	o, client := &e.ops[op], e.clientOf(op)
	end := e.lastEffect(o)
	if o.verb == acquire && o.hold != none {
		end = max(end, e.holds[o.hold].end)
	}
	return e.spans(waitsOn).some(o.lock, o.invoke, end, func(i int32) bool { return e.waits[i].client != client }) ||
		e.spans(holdsOn).some(o.lock, o.invoke, end, func(id int32) bool { return e.procs[e.holds[id].proc].client != client })
}

// wantedAgain reports whether a fault mattered, and a client wanted the lock after
// the end of all faults.
func (e *exposure) wantedAgain() bool {
	_, healed := e.healed()
	return e.some(e.matters) && e.lastWait() > healed
}

// wantedAfterwards reports whether a client wanted the lock after a fault that
// mattered. For a fault that stops a client or server, it means after the fault's
// end.
func (e *exposure) wantedAfterwards() bool {
	last := e.lastWait()
	return e.some(func(f *fault) bool {
		over := f.sure
		if f.kind.excuses() {
			over = f.end
		}
		return e.matters(f) && last > over
	})
}

// matters reports whether f touched a client. The effect of a fault on a server may
// last, and matter to clients that come later.
func (t *timeline) matters(f *fault) bool { return f.met.touched || f.kind.onServers() }

// lastWait returns where the last wait ended.
func (t *timeline) lastWait() int32 {
	last := none
	for i := range t.waits {
		last = max(last, t.waits[i].end)
	}
	return last
}

// rivals reports whether two clients waited for one lock at the same time. If there
// is a fault, it must have hit one of them meanwhile.
func (e *exposure) rivals() bool {
	for i := range e.waits {
		w := &e.waits[i]
		if e.kind != undisturbed && !e.struckBetween(w.client, w.begin, w.end) {
			continue
		}
		if e.spans(waitsOn).some(w.lock, w.begin+1, w.end-1, func(o int32) bool {
			other := &e.waits[o]
			return other.client != w.client &&
				(e.kind == undisturbed || e.struckBetween(w.client, max(w.begin, other.begin), min(w.end, other.end)))
		}) {
			return true
		}
	}
	return false
}

// holderStruck reports whether a fault struck a client that held.
func (e *exposure) holderStruck() bool {
	return e.some(func(f *fault) bool {
		for c := range e.clientsOf(f) {
			if e.met(heldOf, c, f.start, f.heals) {
				return true
			}
		}
		return false
	})
}

// granted returns the position from which the entry of h was there: that of a
// server's line, or else its begin.
func (e *exposure) granted(h *hold) int32 {
	if e.served == nil {
		e.served = e.firstGrants()
	}
	if pos := e.served[h.op]; pos != none {
		return pos
	}
	return h.begin
}

// inPlace reports whether a server was struck, or came back, while a client held, or
// had been granted the lock without knowing it.
func (e *exposure) inPlace() bool {
	return e.holdMet(func(f *fault) (int32, int32) { return f.start, f.sure }) ||
		e.holdMet(func(f *fault) (int32, int32) { return f.heals, f.end })
}

// holdMet reports whether a hold, from its grant to its end, overlaps the given time
// of a fault.
func (e *exposure) holdMet(span func(f *fault) (from, to int32)) bool {
	type stretch struct{ from, to int32 }
	var list []stretch
	for f := range e.each {
		from, to := span(f)
		list = append(list, stretch{from, to})
	}
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for i := range e.holds {
		h := &e.holds[i]
		if h.stillborn() {
			continue
		}
		granted := e.granted(h)
		first := sort.Search(len(list), func(i int) bool { return list[i].from >= granted })
		for _, x := range list[first:] {
			if x.from > h.end {
				break
			}
			if x.to <= h.end {
				return true
			}
		}
	}
	return false
}

// evicted reports whether a server evicted the entry of a lock that was held, or was
// about to be. If the history has no eviction, it reports whether a client held while
// the memory filled and up to the end: entries that never expire are not evicted.
func (e *exposure) evicted() bool {
	gone, anything := false, false
	for i := range e.acts {
		a := &e.acts[i]
		if a.deed != lost {
			continue
		}
		anything = true
		if op := e.asked(a.made); op != none && e.struckBetween(e.clientOf(op), a.pos, a.pos) {
			gone = gone || a.pos < e.lastDeed(&lapse{op, e.resting(a), a.pos})
		}
	}
	switch {
	case anything:
		return gone
	case len(e.acts) == 0:
		return e.held()
	}
	return e.holdMet(func(f *fault) (int32, int32) { return f.start, f.heals })
}

// tampered reports whether somebody who is no client did one of these deeds to the entry
// of a lock that was held, or was about to be. The end of a session counts as a removal.
// If the history shows no entries, it reports whether a client held when the fault struck.
func (e *exposure) tampered(deeds ...deed) bool {
	if len(e.acts) == 0 {
		return e.held()
	}
	return slices.ContainsFunc(e.acts, func(a act) bool {
		outside := a.by == none && !e.entry(a.pos).By.Set &&
			(slices.Contains(deeds, a.deed) ||
				a.deed == lost && slices.Contains(deeds, removed) && e.entry(a.pos).Text == history.SessionOver)
		op := e.asked(a.made)
		return outside && op != none && e.some(func(f *fault) bool { return f.start < a.pos }) &&
			a.pos < e.lastDeed(&lapse{op, e.resting(&a), a.pos})
	})
}

// replaced reports whether a server was replaced while a client held, at some time
// from the beginning of the fault to the promotion, or while operations met the
// fault. If servers are cut off from each other, the replaced one continues up to the
// end.
func (e *exposure) replaced() bool {
	if e.some(func(f *fault) bool { return f.promoted }) && e.disturbedContested() {
		return true
	}
	return e.some(func(f *fault) bool {
		if !f.promoted {
			return false
		}
		last := f.start
		first, _ := slices.BinarySearch(e.promotions, f.start)
		for _, pos := range e.promotions[first:] {
			if slices.Contains(e.entry(f.start).On, e.entry(pos).Text) {
				last = pos
				break
			}
		}
		if kinds[e.kind].Name != "failover" {
			last = max(last, f.end)
		}
		return e.met(anyHeld, 0, f.start, last)
	})
}
