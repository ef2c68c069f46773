package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Longest measures how slow h was at its worst: for how long nobody held a lock
// that somebody waited for, and for how long one client waited for one grant.
// Nothing is excused. Both are 0 in a history without times.
func Longest(h *history.History) (free, waiting time.Duration) {
	t := newTimeline(h)
	for i := range t.waits {
		waiting = max(waiting, t.waits[i].to-t.waits[i].from)
	}
	t.gaps(0, func(g gap) bool {
		from := g.from
		if g.freed != none {
			if g.freed >= g.end {
				return true // the next held before nobody did
			}
			from = max(from, t.at(g.freed))
		}
		for _, d := range t.wanted(&g, from) {
			free = max(free, d.to-d.from)
		}
		return true
	})
	return free, waiting
}

// Passed is how many acquires were granted a lock before one that had been
// invoked earlier and waited throughout, where there were most of them.
func Passed(h *history.History) (most int) {
	t := newTimeline(h)
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb != acquire {
			continue
		}
		n, to := 0, t.waited(o)
		for k := range t.holds {
			h := &t.holds[k]
			if by := &t.ops[h.op]; t.comesFromTheQueue(h) && by.lock == o.lock && by.invoke > o.invoke && h.begin < to {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
