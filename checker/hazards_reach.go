package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// An exposure is the faults of one kind in a history and their effects. Its methods
// report whether a situation of hazardTable was reached.
type exposure struct {
	*timeline
	kind   kind
	counts *Counts

	struck []struckBy // in the order of the faults
	found  *overlaps  // finds them by client

	lapses    []lapse // nil: not known yet
	served    []int32 // by acquire: where a server first granted it, or 0; nil: not known yet
	withstood bool    // a holder was stopped for 1.5 T, and another client waited in vain
}

// struckBy is a fault and a client that it acts on. A fault on a server has one for
// each client.
type struckBy struct{ client, fault int32 }

// lapse is the end of a lease that its client has not released.
type lapse struct {
	op   int32 // the acquire that got it
	hold *hold // the hold that rested on it, or nil
	pos  int32 // position at which the lease had certainly run out
}

// each calls yield for each fault of that kind, until yield returns false.
func (e *exposure) each(yield func(f *fault) bool) {
	for i := range e.faults {
		if f := &e.faults[i]; f.kind == e.kind && !yield(f) {
			return
		}
	}
}

// some reports whether a fault of that kind fits.
func (e *exposure) some(fits func(f *fault) bool) (found bool) {
	e.each(func(f *fault) bool {
		found = fits(f)
		return !found
	})
	return found
}

func (e *exposure) contended() bool { return e.counts[Contended] > 0 }

func (e *exposure) touched() bool { return e.some(func(f *fault) bool { return f.met.touched }) }

func (e *exposure) held() bool { return e.some(func(f *fault) bool { return f.met.held }) }

// strikes calls yield for each fault of that kind on a client that was in force at
// some time between two positions, until yield returns false.
func (e *exposure) strikes(client, from, to int32, yield func(f *fault) bool) {
	onServers := e.kind.onServers()
	if e.found == nil {
		for i := range e.faults {
			f := &e.faults[i]
			switch {
			case f.kind != e.kind:
			case onServers:
				e.struck = append(e.struck, struckBy{0, int32(i)})
			default:
				e.clientsOf(f, func(c int32) bool {
					e.struck = append(e.struck, struckBy{c, int32(i)})
					return true
				})
			}
		}
		e.found = newOverlaps(&e.scratch, max(1, len(e.clients)), len(e.struck), func(i int32) (int32, int32, int32) {
			s := e.struck[i]
			f := &e.faults[s.fault]
			if f.kind.ends() {
				return s.client, f.start, f.start
			}
			return s.client, f.start, f.end
		})
	}
	if onServers {
		client = 0
	}
	e.found.each(client, from, to, func(i int32) bool { return yield(&e.faults[e.struck[i].fault]) })
}

func (e *exposure) struckBetween(client, from, to int32) (found bool) {
	e.strikes(client, from, to, func(*fault) bool {
		found = true
		return false
	})
	return found
}

// findLapses returns the leases that ran out after a fault of that kind had struck
// their clients. If servers were observed, a server has to have ended the entry, or
// another client has taken it. Otherwise the holder was certainly cut off for T
// without a renewal.
func (e *exposure) findLapses() []lapse {
	if e.lapses != nil {
		return e.lapses
	}
	e.lapses = []lapse{}
	gone := e.scratch.zeros(len(e.ops)) // by acquire: its entry ended
	for i := range e.acts {
		a := &e.acts[i]
		op := e.asked(a.made)
		if op == none {
			continue
		}
		client, pos := e.clientOf(op), a.pos
		switch a.deed {
		case expired:
		case removed, takenOver:
			if a.by == none || e.clientOf(a.by) == client {
				continue
			}
			pos-- // it may be another client's grant
		default:
			continue
		}
		gone[op] = 1
		if e.struckBetween(client, e.ops[op].invoke, pos) {
			e.lapses = append(e.lapses, lapse{op, e.resting(a), pos})
		}
	}
	if e.lease == 0 || e.end == 0 {
		return e.lapses
	}
	stops := e.kind.stopsClient()
	if !stops && !(kinds[e.kind].On == faults.OnLink && e.kind.excuses()) {
		return e.lapses
	}
	type stop struct{ start, from, to int32 }
	stopped := map[int32]stop{} // by client: faults that overlap are merged
	e.each(func(f *fault) bool {
		heals := e.end
		if f.heals < e.size() {
			heals = e.at(f.heals)
		}
		e.clientsOf(f, func(client int32) bool {
			s, ok := stopped[client]
			from := f.sure
			if !ok || s.to < f.sure {
				s.start, s.from = f.start, f.sure
			} else if from = s.to; from >= f.heals {
				return true
			}
			s.to = f.heals
			stopped[client] = s
			if heals-e.at(s.from) < e.lease {
				return true
			}
			e.findHeldOf().each(client, from, f.heals, func(id int32) bool {
				h := &e.holds[id]
				since := max(e.at(h.begin), e.at(s.from))
				over := e.firstAt(since + e.lease)
				if since+e.lease > heals || over >= e.size() {
					return true
				}
				if len(e.acts) == 0 && !e.newDeadline(h, s.from, over) {
					e.lapses = append(e.lapses, lapse{h.op, h, over})
				}
				e.withstood = e.withstood || stops && gone[h.op] == 0 && e.keptOut(h, max(s.start, h.begin), since+e.lease, heals)
				return true
			})
			return true
		})
		return true
	})
	return e.lapses
}

// newDeadline reports whether the client of h knew another deadline at to than at
// from.
func (t *timeline) newDeadline(h *hold, from, to int32) bool {
	return t.known(h, from) != t.known(h, to)
}

// keptOut reports whether another client waited T/2 for the lock of h between two times,
// while no other client was granted it since a position.
func (e *exposure) keptOut(h *hold, since int32, from, to time.Duration) (kept bool) {
	client := e.procs[h.proc].client
	e.findWaitsOn().each(h.lock, e.firstAt(from), min(h.end, e.size()-1), func(i int32) bool {
		w := &e.waits[i]
		enough := max(from, e.at(w.begin)) + e.lease/2
		end := e.firstAt(enough)
		kept = w.client != client && enough <= to && end <= min(w.end, h.end) && end < e.size() && !e.grantBetween(h.lock, client, since, end)
		return !kept
	})
	return kept
}

// grantBetween reports whether another client was granted a lock between two
// positions, by a server's line or by its ok.
func (t *timeline) grantBetween(lock, client, from, to int32) (found bool) {
	first := sort.Search(len(t.acts), func(i int) bool { return t.acts[i].pos > from })
	for i := first; i < len(t.acts) && t.acts[i].pos < to; i++ {
		if op := t.acts[i].grants(); op != none && t.ops[op].lock == lock && t.clientOf(op) != client {
			return true
		}
	}
	t.findHoldsOn().each(lock, from+1, to-1, func(id int32) bool {
		h := &t.holds[id]
		found = h.begin > from && t.procs[h.proc].client != client
		return !found
	})
	return found
}

// lapsed reports whether a lease ran out that fits, or a holder withstood a stop.
func (e *exposure) lapsed(fits func(l *lapse) bool) bool {
	list := e.findLapses()
	return e.withstood || slices.ContainsFunc(list, func(l lapse) bool { return fits(&l) })
}

// outlasted reports whether another client wanted the lock after a lease had run out
// that its client had not released.
func (e *exposure) outlasted() bool {
	return e.lapsed(func(l *lapse) bool {
		last := e.lastDeed(l)
		return l.pos < last && e.wantedByOther(e.ops[l.op].lock, e.clientOf(l.op), l.pos, last)
	})
}

// wentOn reports whether another client was granted the lock after a lease had run
// out, and before the last act of its client.
func (e *exposure) wentOn() bool {
	return e.lapsed(func(l *lapse) bool {
		return e.grantBetween(e.ops[l.op].lock, e.clientOf(l.op), l.pos, e.lastDeed(l))
	})
}

// lastDeed returns the position after which the client of l certainly did nothing for
// it: after the end of its acquire, its hold and its release.
func (e *exposure) lastDeed(l *lapse) int32 {
	last := e.lastEffect(&e.ops[l.op])
	if h := l.hold; h != nil {
		last = max(last, h.end)
		if h.released < e.size() {
			last = max(last, e.lastEffect(&e.ops[e.opAt[h.released]]))
		}
	}
	return last
}

// diedWanted reports whether a client died that held the lock or had an operation on
// it open or in doubt, and another client wanted that lock then or later.
func (e *exposure) diedWanted() bool {
	died := func(lock, client, from, to int32) (found bool) {
		e.strikes(client, from, e.size(), func(f *fault) bool {
			if from >= f.start {
				return true
			}
			found = to >= f.struck && e.wantedByOther(lock, client, f.start-1, e.size())
			return false // a client dies once
		})
		return found
	}
	for i := range e.ops {
		if o := &e.ops[i]; o.locks() && died(o.lock, e.clientOf(int32(i)), o.invoke, e.lastEffect(o)) {
			return true
		}
	}
	for i := range e.holds {
		if h := &e.holds[i]; !h.stillborn() && died(h.lock, e.procs[h.proc].client, h.begin, h.end) {
			return true
		}
	}
	return false
}

func (e *exposure) disturbed() bool { return e.interrupted(func(int32) bool { return true }) }

// disturbedContested reports whether the disturbance mattered to another client, or a
// lease ran out.
func (e *exposure) disturbedContested() bool {
	return e.outlasted() || e.interrupted(e.contested)
}

// interrupted reports whether the fault hit an operation that fits: one with an
// uncertain result, a release, an extend, or an acquire while no other client held
// the lock.
func (e *exposure) interrupted(fits func(op int32) bool) bool {
	for i := range e.ops {
		o, client := &e.ops[i], e.clientOf(int32(i))
		if !o.locks() {
			continue
		}
		end := e.endOf(o)
		hit := false
		e.strikes(client, o.invoke, end, func(f *fault) bool {
			hit = (!f.hits.Set || f.hits.V > 0) &&
				(o.verb != acquire || o.outcome == history.Info ||
					!e.coveredByOther(o.lock, client, max(o.invoke, f.start), min(end, f.end)))
			return !hit
		})
		if hit && fits(int32(i)) {
			return true
		}
	}
	return false
}

// coveredByOther reports whether another client held a lock throughout two positions.
func (t *timeline) coveredByOther(lock, client, from, to int32) (found bool) {
	t.findHoldsOn().each(lock, from, to, func(id int32) bool {
		h := &t.holds[id]
		found = t.procs[h.proc].client != client && h.begin <= from && h.end >= to
		return !found
	})
	return found
}

// contested reports whether another client held or waited while an operation was
// open, or during the hold that it got.
func (e *exposure) contested(op int32) (found bool) {
	o, client := &e.ops[op], e.clientOf(op)
	end := e.lastEffect(o)
	if o.verb == acquire && o.hold != none {
		end = max(end, e.holds[o.hold].end)
	}
	e.findWaitsOn().each(o.lock, o.invoke, end, func(i int32) bool {
		found = e.waits[i].client != client
		return !found
	})
	if found {
		return true
	}
	e.findHoldsOn().each(o.lock, o.invoke, end, func(id int32) bool {
		found = e.procs[e.holds[id].proc].client != client
		return !found
	})
	return found
}

// wantedAgain reports whether a fault mattered, and a client wanted the lock after
// the end of all faults.
func (e *exposure) wantedAgain() bool {
	_, healed := e.healed()
	return e.some(e.matters) && e.lastWait() > healed
}

// wantedAfterwards reports whether a client wanted the lock after a fault that
// mattered. For a fault that stops a client or server, it means after the fault's
// end.
func (e *exposure) wantedAfterwards() bool {
	last := e.lastWait()
	return e.some(func(f *fault) bool {
		over := f.sure
		if f.kind.excuses() {
			over = f.end
		}
		return e.matters(f) && last > over
	})
}

// matters reports whether f touched a client. The effect of a fault on a server may
// last, and matter to clients that come later.
func (t *timeline) matters(f *fault) bool { return f.met.touched || f.kind.onServers() }

// lastWait returns where the last wait ended.
func (t *timeline) lastWait() int32 {
	last := none
	for i := range t.waits {
		last = max(last, t.waits[i].end)
	}
	return last
}

// rivals reports whether two clients waited for one lock at the same time. If there
// is a fault, it must have hit one of them meanwhile.
func (e *exposure) rivals() (found bool) {
	for i := range e.waits {
		w := &e.waits[i]
		if e.kind != undisturbed && !e.struckBetween(w.client, w.begin, w.end) {
			continue
		}
		e.findWaitsOn().each(w.lock, w.begin+1, w.end-1, func(o int32) bool {
			other := &e.waits[o]
			if other.client == w.client {
				return true
			}
			found = e.kind == undisturbed || e.struckBetween(w.client, max(w.begin, other.begin), min(w.end, other.end))
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// holderStruck reports whether a fault struck a client that held.
func (e *exposure) holderStruck() bool {
	return e.some(func(f *fault) (found bool) {
		e.clientsOf(f, func(c int32) bool {
			found = e.metOf(c, heldSpan, f.start, f.heals)
			return !found
		})
		return found
	})
}

// granted returns the position from which the entry of h was there: that of a
// server's line, or else its begin.
func (e *exposure) granted(h *hold) int32 {
	if e.served == nil {
		e.served = e.scratch.zeros(len(e.ops))
		for i := range e.acts {
			if a := &e.acts[i]; a.grants() != none && e.served[a.grants()] == 0 {
				e.served[a.grants()] = a.pos
			}
		}
	}
	if pos := e.served[h.op]; pos != 0 {
		return pos
	}
	return h.begin
}

// inPlace reports whether a server was struck, or came back, while a client held, or
// had been granted the lock without knowing it.
func (e *exposure) inPlace() bool {
	return e.holdMet(func(f *fault) (int32, int32) { return f.start, f.sure }) ||
		e.holdMet(func(f *fault) (int32, int32) { return f.heals, f.end })
}

// holdMet reports whether a hold, from its grant to its end, overlaps the given time
// of a fault.
func (e *exposure) holdMet(span func(f *fault) (from, to int32)) bool {
	type stretch struct{ from, to int32 }
	var list []stretch
	e.each(func(f *fault) bool {
		from, to := span(f)
		list = append(list, stretch{from, to})
		return true
	})
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for i := range e.holds {
		h := &e.holds[i]
		if h.stillborn() {
			continue
		}
		granted := e.granted(h)
		first := sort.Search(len(list), func(i int) bool { return list[i].from >= granted })
		for _, x := range list[first:] {
			if x.from > h.end {
				break
			}
			if x.to <= h.end {
				return true
			}
		}
	}
	return false
}

// evicted reports whether a server evicted the entry of a lock that was held, or was
// about to be. If the history has no eviction, it reports whether a client held while
// the memory filled and up to the end: entries that never expire are not evicted.
func (e *exposure) evicted() bool {
	gone, anything := false, false
	for i := range e.acts {
		a := &e.acts[i]
		if a.deed != lost {
			continue
		}
		anything = true
		if op := e.asked(a.made); op != none && e.struckBetween(e.clientOf(op), a.pos, a.pos) {
			gone = gone || a.pos < e.lastDeed(&lapse{op, e.resting(a), a.pos})
		}
	}
	switch {
	case anything:
		return gone
	case len(e.acts) == 0:
		return e.held()
	}
	return e.holdMet(func(f *fault) (int32, int32) { return f.start, f.heals })
}

// replaced reports whether a server was replaced while a client held, at some time
// from the beginning of the fault to the promotion, or while operations met the
// fault. If servers are cut off from each other, the replaced one continues up to the
// end.
func (e *exposure) replaced() bool {
	if e.some(func(f *fault) bool { return f.promoted }) && e.disturbedContested() {
		return true
	}
	return e.some(func(f *fault) bool {
		if !f.promoted {
			return false
		}
		last := f.start
		first, _ := slices.BinarySearch(e.promotions, f.start)
		for _, pos := range e.promotions[first:] {
			if slices.Contains(e.entry(f.start).On, e.entry(pos).Text) {
				last = pos
				break
			}
		}
		if kinds[e.kind].Name != "failover" {
			last = max(last, f.end)
		}
		return e.met(heldSpan, f.start, last)
	})
}
