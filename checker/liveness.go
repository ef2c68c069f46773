package checker

import "time"

// patience is how many T somebody may wait while nobody is granted the lock.
const patience = 3

// liveness: nobody waits for longer than 3 T while nobody is granted the lock.
// Judged from the last heal on: the end of the last fault, or the beginning of
// one that has no end; in the whole history where nothing was injected.
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
	t.gaps(bound, func(g gap) bool {
		worked := t.worked(&g)
		for i := range t.waitsUntil(g.end) {
			w := &t.waits[i]
			if w.lock != g.lock {
				continue
			}
			from, to := max(g.from, w.from, calm, worked.to), min(g.to, w.to)
			if to-from > bound && to-from-t.excused(from, to, func(k kind) bool { return k == stall }) > bound {
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
				return false
			}
		}
		return true
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
		pos, since := f.start, f.from
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

// worked is the end of the last hold, up to the end of g, of somebody who
// worked: up to its deadline, or a fault on its client.
func (t *timeline) worked(g *gap) work {
	last := work{pos: none}
	for i := range t.holds {
		h := &t.holds[i]
		if h.begin >= g.end {
			break
		}
		if h.lock != g.lock || h.stillborn() {
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
	return last
}

// untouched is the position at which h ends, or at which a fault on its client
// first strikes.
func (t *timeline) untouched(h *hold) int32 {
	stop := h.end
	for i := range t.faults {
		f := &t.faults[i]
		if kinds[f.kind].on == onClient && f.end > h.begin && f.start < stop && t.on(f, t.procs[h.proc].client) {
			stop = max(f.start, h.begin)
		}
	}
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
