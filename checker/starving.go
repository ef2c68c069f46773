package checker

import (
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// turns is how many grants each client may get while one acquire waits that was
// invoked before them.
const turns = 2

// starving returns the witness that an acquire was refused or kept waiting outside
// faults while more than 2 × clients grants went to acquires that were invoked later,
// or nil. Each acquire counts for itself, since a client that gives up goes to the
// end of the queue. If acquires report their places in the queue, an acquire counts
// from its first place on: a client that still looks for a server is in no queue.
// After a fault all have 3 T to settle, for the same reason.
func (t *timeline) starving() *Witness {
	start, ok := t.settled()
	if !ok {
		return nil
	}
	grants := make([][]int32, len(t.locks.list)) // by lock, in the order of their begins
	for i := range t.holds {
		if h := &t.holds[i]; t.comesFromTheQueue(h) {
			grants[h.lock] = append(grants[h.lock], int32(i))
		}
	}
	joined := make(map[int32]int32, len(t.places)) // by acquire: its first place
	for i := range t.places {
		if x := &t.places[i]; joined[x.op] == 0 {
			joined[x.op] = x.from
		}
	}
	allowed := turns * len(t.clients)
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb != acquire {
			continue
		}
		place, in := joined[int32(i)]
		if !in && len(joined) > 0 {
			continue
		}
		list := grants[o.lock]
		from, to := max(o.invoke, start, place), t.waited(o)
		begun := func(pos int32) int {
			return sort.Search(len(list), func(i int) bool { return t.holds[list[i]].begin > pos })
		}
		list = list[begun(from):max(begun(from), begun(to-1))]
		if len(list) <= allowed {
			continue
		}
		var later []int32
		for _, id := range list {
			h := &t.holds[id]
			if t.ops[h.op].invoke > from && t.procs[h.proc].client != t.procs[o.proc].client {
				if later = append(later, id); len(later) > allowed {
					if t.goesOn(o.lock) {
						break
					}
					return t.passedOver(o, place, from, to, later)
				}
			}
		}
	}
	return nil
}

// settled returns the position from which starvation is judged, and false if that is
// unknown.
func (t *timeline) settled() (int32, bool) {
	if len(t.faults) == 0 {
		return none, true
	}
	if t.lease == 0 || t.end == 0 {
		return 0, false
	}
	var calm time.Duration
	for i := range t.faults {
		f := &t.faults[i]
		switch {
		case f.ended:
			calm = max(calm, f.to)
		case f.kind.ends():
			calm = max(calm, t.at(f.sure))
		default:
			return 0, false // it has no end
		}
	}
	calm += patience * t.lease
	return int32(sort.Search(int(t.size()), func(i int) bool { return t.at(int32(i)) > calm })) - 1, true
}

// waited returns the position up to which the client of an acquire certainly waited.
func (t *timeline) waited(o *op) int32 {
	c, to := &t.clients[t.procs[o.proc].client], o.done
	if to == none {
		if t.entry(t.size()-1).F != history.Ended {
			return o.invoke // the history shows neither how it ended nor the end of the run
		}
		to = t.size()
	}
	if c.dead && (o.done == none || o.outcome == history.Info) {
		to = min(to, c.died)
	}
	return to
}

// passedOver returns the witness that o waited between from and to while later were
// granted the lock. place is the line that gave it a place in the queue; 0: none.
func (t *timeline) passedOver(o *op, place, from, to int32, later []int32) *Witness {
	entries := []int32{o.invoke, min(to, t.size()-1)}
	if place > 0 {
		entries = append(entries, place)
	}
	for _, id := range later {
		entries = append(entries, t.ops[t.holds[id].op].invoke, t.holds[id].begin)
	}
	return witness(entries, "%s waited for %s from %s to %s, while %d acquires that were invoked later were granted it; %d are allowed, %d for each of %d clients.",
		t.procName(o.proc), t.lockName(o.lock), t.when(max(from, o.invoke)), t.when(min(to, t.size()-1)), len(later), turns*len(t.clients), turns, len(t.clients))
}
