package checker

import (
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// settlePlaces cuts each place where it was lost, or may have been.
//
// If the servers were observed, and one had an entry for the acquire, its place lasts
// as long as that entry. Otherwise a fault on any machine may have cost it its place,
// since a wrong clock may make a client remove the places of others. It is also
// unknown when an acquire without a grant has left the queue. So a place lasts up to
// the first fault, and is ignored without a grant.
func (t *timeline) settlePlaces() {
	var s stored
	seen := t.unseen(Answers) == ""
	if seen {
		s = t.stored()
	}
	disturbed := t.disturbances()
	for i := range t.places {
		x := &t.places[i]
		if seen {
			if entry, was := s.had(x.op, x.from); was {
				end := x.from
				if entry != none {
					end = s.entries[entry].to
				}
				x.to = min(x.to, end)
				continue
			}
		}
		o := &t.ops[x.op]
		if o.outcome != history.OK || o.done != x.to {
			x.to = x.from
			continue
		}
		x.to = max(x.from, min(x.to, disturbed.after(o.invoke)))
	}
}

// disturbances are the times of faults that may cost another client its place. A
// client that is dead, or has lost its place, disturbs no other.
type disturbances []struct {
	start int32
	last  int32 // the latest end of those that started by then
}

func (t *timeline) disturbances() (list disturbances) {
	last := none
	for i := range t.faults {
		f := &t.faults[i]
		if f.kind.ends() {
			continue
		}
		start := f.start
		if f.kind == stall { // its line comes at its end
			start = t.firstAt(f.from)
		}
		last = max(last, f.end)
		list = append(list, struct{ start, last int32 }{start, last})
	}
	return list
}

// after returns the start of the first one that is in force at pos or later.
func (d disturbances) after(pos int32) int32 {
	i := sort.Search(len(d), func(i int) bool { return d[i].last >= pos })
	if i == len(d) {
		return 1<<31 - 1
	}
	return d[i].start
}

// comesFromTheQueue reports whether h is the grant of an acquire that its client
// asked for and that had to wait like any other: the client holds nothing yet, and
// the grant does not stand on the entry of an earlier acquire.
func (t *timeline) comesFromTheQueue(h *hold) bool {
	return h.inside == none && !h.guest()
}
