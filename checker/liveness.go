package checker

import "time"

// patience is how many T somebody may wait while nobody is granted the lock.
const patience = 3

// liveness: nobody waits for longer than 3 T while nobody is granted the lock.
// Judged from the last heal on: the end of the last fault, or the beginning of
// one that has no end; in the whole history where nothing was injected.
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
		for i := range t.waitsUntil(g.end) {
			w := &t.waits[i]
			if w.lock != g.lock {
				continue
			}
			from, to := max(g.from, w.from, calm), min(g.to, w.to)
			if to-from > bound {
				verdict = violated(Liveness, t.starved(w, &g, from, to, healed))
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

func (t *timeline) starved(w *wait, g *gap, from, to time.Duration, healed int32) *Witness {
	entries := []int32{w.begin, min(w.end, g.end, t.size()-1)}
	note := ""
	switch {
	case from == w.from:
	case g.begin != none && from == g.from:
		entries = append(entries, g.begin)
		note = " after the last grant"
	default:
		entries = append(entries, healed)
		note = " after the last fault"
	}
	return witness(entries, "%s waited for %s from %s to %s%s, and nobody was granted it in these %s; %s (3 T) are allowed.",
		t.clientName(w.client), t.lockName(w.lock), seconds(from), seconds(to), note, seconds(to-from),
		seconds(patience*t.lease))
}
