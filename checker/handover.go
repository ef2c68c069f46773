package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// handover: while no client holds and one waits, a grant comes within T/2, or within
// the time that the lock declares. Time is not counted while a client or server is
// paused, cut off, slowed down, restarting or failing over. Time does not count either if a
// client may have held then, and confirmed it only later. On real servers the verdict is
// unknown if a slow machine may be the reason.
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
	doubt := ""
	for g := range t.gaps(bound) {
		w := t.slow(&g, bound)
		if w == nil {
			continue
		}
		if why := t.silence(&g, bound); why != "" {
			doubt = why
		} else if !t.goesOn(g.lock) {
			return violated(Handover, w)
		}
	}
	return unless(doubt, Handover)
}

// slow returns the witness that a client waited too long for a free lock, or nil.
func (t *timeline) slow(g *gap, bound time.Duration) *Witness {
	from, ok := t.freeFrom(g)
	if !ok || g.to-from <= bound {
		return nil
	}
	for _, w := range t.wanted(g, from) {
		if counted := w.to - w.from - t.excused(w.from, w.to, byAny); counted > bound {
			return t.late(g, w, counted, bound)
		}
	}
	return nil
}

// demand is a time in which at least one client waits for a lock throughout.
type demand struct {
	from, to time.Duration
	first    *wait   // the wait that began it
	more     []*wait // the waits that continued it
}

// wanted returns the times, within g and after from, in which a client waited.
func (t *timeline) wanted(g *gap, from time.Duration) []demand {
	var list []demand
	for i := range t.spans(waitsOn).each(g.lock, g.begin, g.end-1) {
		if w := &t.waits[i]; w.to > from {
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

// excused returns how much of a time does not count because of faults of some kinds.
// A death excuses only while it is uncertain: holds end where it may have come.
func (t *timeline) excused(from, to time.Duration, x excuse) time.Duration {
	if len(t.faults) == 0 || from >= to {
		return 0
	}
	if t.excuses[x] == nil {
		t.excuses[x] = t.excusing(x)
	}
	list := t.excuses[x]
	first := sort.Search(len(list), func(i int) bool { return list[i].to > from })
	after := sort.Search(len(list), func(i int) bool { return list[i].from >= to })
	if first >= after {
		return 0
	}
	sum := list[after-1].sum - list[first].sum + list[first].to - list[first].from
	return sum - max(0, from-list[first].from) - max(0, list[after-1].to-to)
}

// excusing returns the times in which faults excuse, in order. They do not overlap.
func (t *timeline) excusing(x excuse) []excusedTime {
	list := []excusedTime{}
	for i := range t.faults { // in the order of their starts
		f := &t.faults[i]
		until, excuses := t.excusesUntil(f, x)
		if !excuses {
			continue
		}
		from, sum := f.from, time.Duration(0)
		if n := len(list); n > 0 {
			from, sum = max(from, list[n-1].to), list[n-1].sum
		}
		if from < until {
			list = append(list, excusedTime{from, until, sum + until - from})
		}
	}
	return list
}

// excusesUntil returns when f excuses last, and whether it excuses at all.
func (t *timeline) excusesUntil(f *fault, x excuse) (until time.Duration, excuses bool) {
	switch {
	case x == byStall:
		return f.to, f.kind == stall
	case f.kind.ends():
		return t.at(f.sure), true
	}
	return f.to, f.kind.excuses()
}

// disturbed names the faults that excuse in a time, each kind once.
func (t *timeline) disturbed(from, to time.Duration) string {
	var names []string
	for i := range t.faults {
		f := &t.faults[i]
		until, excuses := t.excusesUntil(f, byAny)
		if name := t.entry(f.start).F; excuses && f.from < to && from < until && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

func (t *timeline) late(g *gap, d demand, counted, bound time.Duration) *Witness {
	entries, who, last := []int32{g.freed, d.first.begin}, asking(d.first), d.first
	for _, w := range d.more {
		entries, last = append(entries, w.begin), w
		who += ", then " + t.clientName(w.client) + asking(w)
	}
	since := seconds(d.from)
	ungranted := func(when string) string {
		return fmt.Sprintf("by %s%s nobody had been granted it", seconds(d.to), when)
	}
	var outcome string
	switch {
	case g.end == t.size() || d.to < g.to:
		entries = append(entries, min(last.end, t.size()-1))
		outcome = ungranted("")
	case g.maybe != none:
		h := &t.holds[g.maybe]
		entries = append(entries, g.end, h.begin)
		outcome = ungranted(fmt.Sprintf(", when %s asked for what it confirmed that it held at %s,", t.procName(h.proc), t.when(h.begin)))
	default:
		entries = append(entries, g.end)
		outcome = fmt.Sprintf("it was granted only at %s", seconds(g.to))
	}
	note := ""
	if gone := d.to - d.from; gone > counted {
		note = fmt.Sprintf(" (%s without %s)", seconds(counted), t.disturbed(d.from, d.to))
	}
	return witness(entries, "from %s nobody held %s and %s waited for it%s, but %s, %s later%s; %s are allowed.",
		since, t.lockName(g.lock), t.clientName(d.first.client), who, outcome, seconds(d.to-d.from), note, seconds(bound))
}
