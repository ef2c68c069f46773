package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// handover: while nobody holds and somebody waits, a grant comes within T/2,
// or within what the lock declares. Time during which something is paused,
// cut off, slowed down, restarting or failing over is not counted, nor is the
// time during which somebody may have held who confirmed it only later.
func handover(t *timeline) Verdict {
	bound := time.Duration(t.head.HandoverMS) * time.Millisecond
	if bound == 0 {
		bound = t.lease / 2
	}
	switch {
	case bound == 0:
		return notApplicable(Handover, "the history says neither how long T is nor what the lock declares")
	case t.end == 0:
		return notApplicable(Handover, "the history has no times")
	}
	verdict := valid(Handover)
	t.gaps(bound, func(g gap) bool {
		if w := t.slow(&g, bound); w != nil {
			verdict = violated(Handover, w)
			return false
		}
		return true
	})
	return verdict
}

// slow is the witness that somebody waited too long for what nobody held, or nil.
func (t *timeline) slow(g *gap, bound time.Duration) *Witness {
	from := g.from
	if g.freed != none {
		if g.freed >= g.end {
			return nil
		}
		from = max(from, t.at(g.freed))
	}
	if g.to-from <= bound {
		return nil
	}
	for _, w := range t.wanted(g, from) {
		if counted := w.to - w.from - t.excused(w.from, w.to, func(k kind) bool { return kinds[k].excuses }); counted > bound {
			return t.late(g, w, counted, bound)
		}
	}
	return nil
}

// demand is a time during which somebody waits for a lock all the time.
type demand struct {
	from, to time.Duration
	first    *wait   // the one that began it
	more     []*wait // those that went on where it ended
}

// wanted are the times, within g and after from, during which somebody waited.
func (t *timeline) wanted(g *gap, from time.Duration) []demand {
	var list []demand
	for i := range t.waitsUntil(g.end) {
		w := &t.waits[i]
		if w.lock == g.lock && w.to > from {
			list = append(list, demand{from: max(w.from, from), to: min(w.to, g.to), first: w})
		}
	}
	slices.SortStableFunc(list, func(a, b demand) int { return cmp.Compare(a.from, b.from) })
	merged := list[:0]
	for _, d := range list {
		if n := len(merged); n == 0 || merged[n-1].to < d.from {
			merged = append(merged, d)
		} else if before := &merged[n-1]; d.to > before.to {
			before.to, before.more = d.to, append(before.more, d.first)
		}
	}
	return merged
}

// excused is how much of a time does not count, because of faults of some kinds.
func (t *timeline) excused(from, to time.Duration, of func(kind) bool) time.Duration {
	var sum time.Duration
	// Faults are in the order of their starts, so what is behind covered has
	// been summed up.
	covered := from
	for i := range t.faults {
		f := &t.faults[i]
		if a, b := max(f.from, covered), min(f.to, to); of(f.kind) && a < b {
			sum += b - a
			covered = b
		}
	}
	return sum
}

func (t *timeline) late(g *gap, d demand, counted, bound time.Duration) *Witness {
	entries, who, last := []int32{g.freed, d.first.begin}, asking(d.first), d.first
	for _, w := range d.more {
		entries, last = append(entries, w.begin), w
		who += ", then " + t.clientName(w.client) + asking(w)
	}
	free := "has held"
	if g.freed != none {
		free = "held"
	}
	since := seconds(d.from)
	outcome := fmt.Sprintf("nobody was granted it until %s", seconds(d.to))
	switch {
	case g.end == t.size() || d.to < g.to:
		entries = append(entries, min(last.end, t.size()-1))
	case g.maybe != none:
		h := &t.holds[g.maybe]
		entries = append(entries, g.end, h.begin)
		outcome += fmt.Sprintf(", when %s asked for what it confirmed that it held at %s", t.procName(h.proc), t.when(h.begin))
	default:
		entries = append(entries, g.end)
		outcome = fmt.Sprintf("it was granted only at %s", seconds(g.to))
	}
	note := ""
	if gone := d.to - d.from; gone > counted {
		note = fmt.Sprintf(", of which %s count because nothing was stopped or cut off", seconds(counted))
	}
	return witness(entries, "from %s nobody %s %s and %s waited for it%s, but %s, %s later%s; %s are allowed.",
		since, free, t.lockName(g.lock), t.clientName(d.first.client), who, outcome, seconds(d.to-d.from), note, seconds(bound))
}
