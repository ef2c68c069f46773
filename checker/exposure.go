package checker

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// An exposure is the faults of one kind in a history and their effects. Its methods
// report whether a situation of hazardTable was reached.
type exposure struct {
	*timeline
	kind   kind
	counts *Counts

	struck []struckBy // in the order of the faults
	found  overlaps   // finds them by client

	lapses    []lapse // nil: not known yet
	served    []int32 // by acquire: where a server first granted it, or none; nil: not known yet
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

// each yields the faults of that kind.
func (e *exposure) each(yield func(f *fault) bool) {
	for i := range e.faults {
		if f := &e.faults[i]; f.kind == e.kind && !yield(f) {
			return
		}
	}
}

// some reports whether a fault of that kind fits.
func (e *exposure) some(fits func(f *fault) bool) bool {
	for f := range e.each {
		if fits(f) {
			return true
		}
	}
	return false
}

// strikes reports whether one of the faults of that kind fits that were in force on a
// client at some time between two positions. It asks no further after the first.
func (e *exposure) strikes(client, from, to int32, fits func(f *fault) bool) bool {
	onServers := e.kind.onServers()
	if e.found.first == nil {
		for i := range e.faults {
			f := &e.faults[i]
			switch {
			case f.kind != e.kind:
			case onServers:
				e.struck = append(e.struck, struckBy{0, int32(i)})
			default:
				for c := range e.clientsOf(f) {
					e.struck = append(e.struck, struckBy{c, int32(i)})
				}
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
	return e.found.some(client, from, to, func(i int32) bool { return fits(&e.faults[e.struck[i].fault]) })
}

func (e *exposure) struckBetween(client, from, to int32) bool {
	return e.strikes(client, from, to, func(*fault) bool { return true })
}

func (e *exposure) contended() bool { return e.counts[Contended] > 0 }

func (e *exposure) touched() bool { return e.some(func(f *fault) bool { return f.met.touched }) }

func (e *exposure) held() bool { return e.some(func(f *fault) bool { return f.met.held }) }

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
	for f := range e.each {
		heals := e.end
		if f.heals < e.size() {
			heals = e.at(f.heals)
		}
		for client := range e.clientsOf(f) {
			s, ok := stopped[client]
			from := f.sure
			if !ok || s.to < f.sure {
				s.start, s.from = f.start, f.sure
			} else if from = s.to; from >= f.heals {
				continue
			}
			s.to = f.heals
			stopped[client] = s
			if heals-e.at(s.from) < e.lease {
				continue
			}
			for id := range e.spans(heldOf).each(client, from, f.heals) {
				h := &e.holds[id]
				since := max(e.at(h.begin), e.at(s.from))
				over := e.firstAt(since + e.lease)
				if since+e.lease > heals || over >= e.size() {
					continue
				}
				if len(e.acts) == 0 && !e.newDeadline(h, s.from, over) {
					e.lapses = append(e.lapses, lapse{h.op, h, over})
				}
				e.withstood = e.withstood || stops && gone[h.op] == 0 && e.keptOut(h, max(s.start, h.begin), since+e.lease, heals)
			}
		}
	}
	return e.lapses
}

// newDeadline reports whether the client of h knew another deadline at to than at
// from.
func (t *timeline) newDeadline(h *hold, from, to int32) bool {
	return t.known(h, from) != t.known(h, to)
}

// keptOut reports whether another client waited T/2 for the lock of h between two times,
// while no other client was granted it since a position.
func (e *exposure) keptOut(h *hold, since int32, from, to time.Duration) bool {
	client := e.procs[h.proc].client
	return e.spans(waitsOn).some(h.lock, e.firstAt(from), min(h.end, e.size()-1), func(i int32) bool {
		w := &e.waits[i]
		enough := max(from, e.at(w.begin)) + e.lease/2
		end := e.firstAt(enough)
		return w.client != client && enough <= to && end <= min(w.end, h.end) && end < e.size() && !e.grantBetween(h.lock, client, since, end)
	})
}

// lapsed reports whether a lease ran out that fits, or a holder withstood a stop.
func (e *exposure) lapsed(fits func(l *lapse) bool) bool {
	list := e.findLapses()
	return e.withstood || slices.ContainsFunc(list, func(l lapse) bool { return fits(&l) })
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
