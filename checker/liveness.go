package checker

import "time"

// patience is how many T a client may wait while no client is granted the lock.
const patience = 3

// liveness: no client waits for longer than 3 T while no client is granted the lock.
// It is judged from the last heal on: the end of the last fault, or the beginning of
// a fault without an end. Without faults it is judged in the whole history. A lock
// has to cope with clients that are stopped for good, as with dead ones. Nor is a client
// refused at every try for longer than 3 T while no client holds the lock.
//
// The time does not count while the machine stood still, or while a client works
// under the lock: a live client may hold for as long as it wants, which is not the
// lock's fault. A client that is dead, paused, hung or has a disturbed clock may
// never release the lock. There the lock has to recover by itself, as it has to after
// a deadline has passed.
func liveness(t *timeline) Verdict {
	switch {
	case t.lease == 0:
		return notApplicable(Liveness, "the history does not say how long T is")
	case t.end == 0:
		return notApplicable(Liveness, "the history has no times")
	}
	calm, healed := t.healed()
	bound := patience * t.lease
	works := make([]works, len(t.locks.list))
	for g := range t.gaps(bound) {
		worked := t.worked(&g, works)
		for i := range t.spans(waitsOn).each(g.lock, g.begin, g.end-1) {
			w := &t.waits[i]
			from, to := max(g.from, w.from, calm, worked.to), min(g.to, w.to)
			if to-from <= bound || to-from-t.excused(from, to, byStall) <= bound || t.goesOn(g.lock) {
				continue
			}
			since, note := none, ""
			switch from {
			case w.from:
			case g.from:
				since, note = g.begin, " after the last grant"
			case calm:
				since, note = healed, " after the last fault"
			default:
				since, note = worked.pos, " after "+t.procName(worked.by)+" had held it"
			}
			return violated(Liveness, t.starved(w, &g, from, to, since, note))
		}
	}
	if w := t.refused(); w != nil {
		return violated(Liveness, w)
	}
	return valid(Liveness)
}

// healed returns the time from which liveness is judged, and the entry that shows it,
// or none.
func (t *timeline) healed() (time.Duration, int32) {
	var calm time.Duration
	at := none
	for i := range t.faults {
		f := &t.faults[i]
		if f.kind == stall {
			continue
		}
		pos, since := f.sure, t.at(f.sure)
		if f.ended {
			pos, since = f.end, f.to
		}
		if pos > at {
			calm, at = since, pos
		}
	}
	return calm, at
}

// work is the time up to which a client worked under a lock.
type work struct {
	to  time.Duration
	pos int32 // of the entry that shows it; none: no client worked
	by  int32 // the process that worked
}

// works is the work under one lock, up to some hold.
type works struct {
	last work
	seen int // how many of its holds it includes
}

// worked returns the latest end of work in the holds that begin before the end of g.
// A holder works until its hold or its deadline ends, or a fault strikes its client.
// Calls for the gaps of a lock come in order.
func (t *timeline) worked(g *gap, by []works) work {
	so := &by[g.lock]
	if so.seen == 0 {
		so.last.pos = none
	}
	last := so.last
	for _, id := range t.spans(holdsOn).group(g.lock)[so.seen:] {
		h := &t.holds[id]
		if h.begin >= g.end {
			break
		}
		so.seen++
		if h.stillborn() {
			continue
		}
		stop := t.untouched(h)
		to, pos := t.end, stop
		if stop < t.size() {
			to = t.at(stop)
		}
		if d := t.known(h, stop); d != none && t.deadlines[d].until < to {
			to, pos = t.deadlines[d].until, t.deadlines[d].pos
		}
		if to > last.to {
			last = work{to: to, pos: pos, by: h.proc}
		}
	}
	so.last = last
	return last
}

// untouched returns the position at which h ends, or at which a fault on its client
// first strikes.
func (t *timeline) untouched(h *hold) int32 {
	stop := t.leaves(h)
	if len(t.faults) == 0 {
		return stop
	}
	t.findStrikes().some(t.procs[h.proc].client, h.begin+1, stop-1, func(i int32) bool {
		stop = max(t.finders.struck[i].sure, h.begin)
		return true
	})
	return stop
}

// starved returns the witness that w lasted too long. The entry at since, if there is
// one, begins the count, and note says why.
func (t *timeline) starved(w *wait, g *gap, from, to time.Duration, since int32, note string) *Witness {
	return witness([]int32{w.begin, since, min(w.end, g.end, t.size()-1)},
		"%s waited for %s from %s to %s%s%s, and no client was granted it in these %s; %s (3 T) are allowed.",
		t.clientName(w.client), t.lockName(w.lock), seconds(from), seconds(to), note, asking(w), seconds(to-from),
		seconds(patience*t.lease))
}
