package models

import (
	"sort"
	"time"
)

// stretches makes a hold of each stretch of time in which a holder had time left. It
// begins at the line in which the holder learned its deadline, and ends at the first
// line at or after the deadline. Holds without a known deadline may last for any
// time.
func (a *account) stretches(holds []hold, deadlines []deadline) []hold {
	byHold := map[int32][]deadline{}
	for _, d := range deadlines {
		byHold[d.hold] = append(byHold[d.hold], d)
	}
	var list []hold
	for i := range holds {
		h := &holds[i]
		if !h.presupposed() {
			list = append(list, *h)
			if last := &list[len(list)-1]; a.opts.StrictTry && !h.void { // its end is unknown
				last.end = h.call
			}
			continue
		}
		asked, before := h.call, len(list)
		stretch := func(call, ret, end, gone int32, until time.Duration) {
			list = append(list, hold{lock: h.lock, proc: h.proc, owner: h.owner, call: call, ret: ret, end: end, gone: gone, floor: none, queued: none, until: until})
		}
		var last *hold
		spent := false // a line has shown that it had no time left
		for k, d := range byHold[int32(i)] {
			over := a.at(d.until)
			next := h.end
			if ds := byHold[int32(i)]; k+1 < len(ds) {
				next = min(next, ds[k+1].pos)
			}
			end := min(next, over)
			if len(list) == before && !spent && d.granted && over > d.pos && h.end < d.pos { // it ended before its answer came, and lasted an instant before that
				stretch(h.call, h.ret, h.end, h.gone, d.until)
				continue
			}
			spent = spent || over <= d.pos
			if over <= d.pos || h.end < d.pos && (d.call == none || d.call > h.gone) {
				continue
			}
			if h.end < d.pos { // an extend: it found the hold there, for an instant at least
				stretch(asked, min(d.pos, h.gone), max(d.call, h.end), h.gone, d.until)
				last = nil
				continue
			}
			if last != nil && last.end == d.pos {
				last.end, last.until = end, d.until
			} else {
				from := max(d.pos, h.ret)
				if k == 0 && d.granted { // another process may have learned of it before its answer came
					from = h.ret
				}
				stretch(asked, from, end, h.gone, d.until)
				last = &list[len(list)-1]
			}
			asked = end
		}
		// It was held at some time before, or its end is unknown.
		if len(byHold[int32(i)]) == 0 || a.opts.StrictTry && (h.late || len(list) == before || list[before].ret > h.ret) {
			stretch(h.call, never, h.call, never, 0)
		}
	}
	return list
}

// at returns the position of the first entry at or after a time.
func (a *account) at(t time.Duration) int32 {
	n := sort.Search(len(a.times), func(i int) bool { return a.times[i] >= t })
	if n == len(a.times) {
		return never
	}
	return int32(n)
}
