package checker

import "time"

// patience is how many T somebody may wait while nobody is granted the lock.
const patience = 3

// liveness: nobody waits for longer than 3 T while nobody is granted the lock.
// Judged from the last heal on: the end of the last fault, or the beginning of
// one that has no end; in the whole history where nothing was injected. A lock has to
// live with who is stopped for good, as with the dead.
//
// Nor does the time count in which the machine stood still, or during which somebody works under the lock: it is
// granted to a client that lives and may hold for as long as it wants, which
// is no fault of the lock. Who is dead, paused, hung or has a clock that was
// meddled with may never give it back, and there a lock has to help itself, as
// it has to when a deadline has passed.
func liveness(t *timeline) Verdict {
	switch {
	case t.lease == 0:
		return notApplicable(Liveness, "the history does not say how long T is")
	case t.end == 0:
		return notApplicable(Liveness, "the history has no times")
	}
	calm, healed := t.healed()
	bound := patience * t.lease
	verdict := valid(Liveness)
	works := make([]works, len(t.locks.list))
	t.gaps(bound, func(g gap) bool {
		worked := t.worked(&g, works)
		starved := false
		t.findWaitsOn().each(g.lock, g.begin, g.end-1, func(i int32) bool {
			w := &t.waits[i]
			from, to := max(g.from, w.from, calm, worked.to), min(g.to, w.to)
			if to-from > bound && to-from-t.excused(from, to, byStall) > bound {
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
				verdict = violated(Liveness, t.starved(w, &g, from, to, since, note))
				starved = true
			}
			return !starved
		})
		return !starved
	})
	return verdict
}

// healed is the time from which liveness is judged, and the entry that says so,
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

// work is how long somebody worked under a lock.
type work struct {
	to  time.Duration
	pos int32 // of the entry that tells; none: nobody did
	by  int32 // the process that did
}

// works is the work under one lock, up to some hold.
type works struct {
	last work
	seen int // how many of its holds it is about
}

// worked is the end of the last hold, up to the end of g, of somebody who
// worked: up to its deadline, or a fault on its client. Gaps of a lock come in order.
func (t *timeline) worked(g *gap, by []works) work {
	so := &by[g.lock]
	if so.seen == 0 {
		so.last.pos = none
	}
	last := so.last
	for _, id := range t.findHoldsOn().group(g.lock)[so.seen:] {
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

// untouched is the position at which h ends, or at which a fault on its client
// first strikes.
func (t *timeline) untouched(h *hold) int32 {
	stop := h.end
	if len(t.faults) == 0 {
		return stop
	}
	t.findStrikes().each(t.procs[h.proc].client, h.begin+1, h.end-1, func(i int32) bool {
		stop = max(t.find.struck[i].sure, h.begin)
		return false
	})
	return stop
}

// starved is the witness that w lasted too long. The entry at since, if there
// is one, begins the count, and note says why.
func (t *timeline) starved(w *wait, g *gap, from, to time.Duration, since int32, note string) *Witness {
	return witness([]int32{w.begin, since, min(w.end, g.end, t.size()-1)},
		"%s waited for %s from %s to %s%s%s, and nobody was granted it in these %s; %s (3 T) are allowed.",
		t.clientName(w.client), t.lockName(w.lock), seconds(from), seconds(to), note, asking(w), seconds(to-from),
		seconds(patience*t.lease))
}
