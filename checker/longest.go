package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Longest measures the worst delays of h: for how long a lock was free while a client
// waited for it, and for how long one client waited for one grant. Faults excuse
// nothing here. Both are 0 in a history without times.
func Longest(h *history.History) (free, waiting time.Duration) {
	t := newTimeline(h)
	for i := range t.waits {
		waiting = max(waiting, t.waits[i].to-t.waits[i].from)
	}
	for g := range t.gaps(0) {
		from, ok := t.freeFrom(&g)
		if !ok {
			continue
		}
		for _, d := range t.wanted(&g, from) {
			free = max(free, d.to-d.from)
		}
	}
	return free, waiting
}

// Passed returns the largest number of acquires that were granted a lock before one
// that had been invoked earlier and waited throughout.
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

// Splits returns how often clients had split the servers of a lock so that no client
// could get a majority any more. It uses the servers' lines; without a lock that asks
// several servers it is 0.
func Splits(h *history.History) (times int) {
	nodes := h.Header.Nodes
	if nodes < 2 {
		return 0
	}
	type place struct{ server, key string }
	owners := map[place]int64{} // the acquire, by its index
	split := false
	for i := range h.Entries {
		e := &h.Entries[i]
		at := place{e.Process.Name, e.Key}
		switch {
		case e.Process.Client() || e.Type != history.Event || !e.Op.Set:
			continue
		case e.F == history.Granted:
			owners[at] = e.Op.V
		case e.F == history.Remove, e.F == history.Expire, e.F == history.Lose, e.F == history.Takeover:
			delete(owners, at)
		default:
			continue
		}
		most, votes := 0, map[int64]int{}
		for _, o := range owners {
			votes[o]++
			most = max(most, votes[o])
		}
		was := split
		split = len(votes) > 1 && most+nodes-len(owners) <= nodes/2
		if split && !was {
			times++
		}
	}
	return times
}
