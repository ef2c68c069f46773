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
			start = int32(sort.Search(int(t.size()), func(i int) bool { return t.at(int32(i)) >= f.from }))
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

// heap is a heap of ids by keys, the smallest on top.
type heap []struct {
	key int64
	id  int32
}

func (h *heap) push(key int64, id int32) {
	*h = append(*h, struct {
		key int64
		id  int32
	}{key, id})
	for list, i := *h, len(*h)-1; i > 0 && list[i].key < list[(i-1)/2].key; i = (i - 1) / 2 {
		list[i], list[(i-1)/2] = list[(i-1)/2], list[i]
	}
}

func (h *heap) pop() {
	list := *h
	n := len(list) - 1
	list[0] = list[n]
	list = list[:n]
	*h = list
	for i := 0; ; {
		least := i
		for _, c := range [...]int{2*i + 1, 2*i + 2} {
			if c < n && list[c].key < list[least].key {
				least = c
			}
		}
		if least == i {
			return
		}
		list[i], list[least] = list[least], list[i]
		i = least
	}
}

// first returns the id with the smallest key below limit that skip does not reject,
// or none. It removes ids for which gone is true.
func (h *heap) first(limit int64, gone, skip func(id int32) bool) int32 {
	found := none
	var skipped heap
	for len(*h) > 0 && (*h)[0].key < limit {
		top := (*h)[0]
		if !gone(top.id) {
			if !skip(top.id) {
				found = top.id
				break
			}
			skipped = append(skipped, top)
		}
		h.pop()
	}
	for _, x := range skipped {
		h.push(x.key, x.id)
	}
	return found
}
