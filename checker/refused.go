package checker

import (
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// refused returns the witness that a client was refused the lock at every try for longer
// than 3 T, although no client may have held it at any of them, or nil. Other clients may
// have been granted the lock between the tries. After a fault all have 3 T to settle: a
// dead client's entry may stay for a lease.
func (t *timeline) refused() *Witness {
	bound := patience * t.lease
	start, judged := none, false
	busy := map[[2]int32][]stretch{}
	for i := range t.waits {
		w := &t.waits[i]
		if w.to-w.from <= bound || !w.again {
			continue
		}
		if !judged {
			if start, judged = t.settled(); !judged {
				return nil
			}
		}
		of := [2]int32{w.client, w.lock}
		if busy[of] == nil {
			busy[of] = t.mayBeHeld(w.client, w.lock)
		}
		if x := t.refusedIn(w, busy[of], start, bound); x != nil && !t.goesOn(w.lock) {
			return x
		}
	}
	return nil
}

// stretch is a part of the history: positions, both included.
type stretch struct{ from, to int32 }

// meets reports whether an operation that is over overlaps one of the stretches, which are
// in order and do not overlap each other.
func (o *op) meets(list []stretch) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].to >= o.invoke })
	return i < len(list) && list[i].from <= o.done
}

// refusedIn returns the witness that is in one wait, after start. busy is when a client may
// hold the lock.
func (t *timeline) refusedIn(w *wait, busy []stretch, start int32, bound time.Duration) *Witness {
	first, tries := none, 0
	begin := sort.Search(len(t.ops), func(i int) bool { return t.ops[i].invoke >= w.begin })
	for i := begin; i < len(t.ops) && t.ops[i].invoke <= w.end; i++ {
		o := &t.ops[i]
		if o.verb != acquire || o.lock != w.lock || t.procs[o.proc].client != w.client {
			continue
		}
		if o.outcome != history.Fail || o.invoke <= start || o.meets(busy) {
			first, tries = none, 0
			continue
		}
		if tries++; first == none {
			first = o.invoke
		}
		from, to := t.at(first), t.at(o.done)
		if tries > 1 && to-from-t.excused(from, to, byStall) > bound {
			return witness([]int32{first, o.done},
				"%s was refused %s at each of its %d tries from %s to %s, and no client held it at any of them; %s (3 T) are allowed.",
				t.clientName(w.client), t.lockName(w.lock), tries, seconds(from), seconds(to), seconds(bound))
		}
	}
	return nil
}

// mayBeHeld returns when a client may hold a lock while client asks for it. A grant counts
// from the invoke of its acquire up to the ok of its release; without that ok, its entry
// may stay for another T. Another client's acquire without an answer may hold until a
// client gets the lock that asked after it.
func (t *timeline) mayBeHeld(client, lock int32) (list []stretch) {
	latest := t.latestAsked(lock)
	for i := range t.ops {
		x := &t.ops[i]
		if x.verb != acquire || x.lock != lock {
			continue
		}
		to := t.size()
		switch {
		case x.hold != none:
			to = t.cleared(&t.holds[x.hold])
		case x.outcome == history.Fail || t.procs[x.proc].client == client:
			continue
		case x.done != none:
			if j := sort.Search(len(latest), func(j int) bool { return latest[j].to > x.done }); j < len(latest) {
				to = latest[j].from
			}
		}
		if n := len(list); n > 0 && x.invoke <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, to)
		} else {
			list = append(list, stretch{x.invoke, to})
		}
	}
	return list
}

// cleared returns the position up to which the entry of a grant may stay in its store.
func (t *timeline) cleared(h *hold) int32 {
	end := max(h.end, h.begin) // its client may have died before it heard of the grant
	switch {
	case h.gave != none:
		return h.gave
	case end >= t.size():
		return t.size()
	}
	return t.firstAt(max(t.at(end), t.validUntil(h, end)) + t.lease)
}

// latestAsked returns for each hold of a lock, in the order of their begins, where it
// begins and the latest invoke of an acquire that got the lock by then.
func (t *timeline) latestAsked(lock int32) (list []stretch) {
	asked := none
	for i := range t.holds {
		if h := &t.holds[i]; h.lock == lock {
			asked = max(asked, t.ops[h.op].invoke)
			list = append(list, stretch{h.begin, asked})
		}
	}
	return list
}
