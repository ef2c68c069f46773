package models

import (
	"fmt"
	"slices"
)

// An operation that names no grant may be about one of several. The judge chooses one
// of them, which is one reading of the history. If that reading is valid, the history
// is valid. If it is violated, the judge reads the history again, with as few holds
// as any reading has: each of those grants may have ended there, but need not have,
// and no grant is confirmed. A violation of that is a violation in every reading.

// doubts are the open questions about a hand.
type doubts struct {
	mine   []int32 // all holds that came into the hand and may not be marked yet
	open   int     // operations under way that may be about several of its grants
	since  int32   // invoke of the first of those
	marked bool    // one of them had an effect, or may have had one
}

// doubtful reports whether a hand may have other holds than it seems to.
func (d *doubts) doubtful() bool { return d.open > 0 || d.marked }

// reading is a hold in its shortest form, whatever the operations of its client mean.
type reading struct {
	ret   int32 // of its acquire, counting only lines that are certainly about it
	end   int32 // position from which it may be over; never: no sooner than it seems
	gone  int32 // of its release, at the end
	floor int32 // until when an extend shows that it lasted, or none
}

// mayEnd reports whether an operation that is not certainly about the hold may
// have ended it.
func (r *reading) mayEnd() bool { return r.end != never }

// reading returns the doubts about a hold, or nil.
func (j *Judge) reading(id int32) *reading {
	if id == none {
		return nil
	}
	return j.readings[id]
}

// waver notes that from now on a hold may be shorter than it seems.
func (j *Judge) waver(id int32) *reading {
	r := j.readings[id]
	if r == nil {
		h := &j.holds[id]
		r = &reading{ret: h.ret, end: never, gone: never, floor: h.floor}
		if j.readings == nil {
			j.readings = map[int32]*reading{}
		}
		j.readings[id] = r
	}
	return r
}

// mayEnd notes that a hold may have ended at pos.
func (j *Judge) mayEnd(id, pos int32) {
	r := j.waver(id)
	if r.end = min(r.end, pos); r.floor >= r.end {
		r.floor = none
	}
}

// clouded reports whether an operation of the owner of a hold may be about another
// one: the hold may have been released by an operation that names no grant, or only
// such an operation shows it.
func (j *Judge) clouded(h *hand, id int32) bool {
	r := j.reading(id)
	return h.open > 0 || r != nil && (r.mayEnd() || r.ret == never)
}

// cloud processes the invoke of an operation that may be about several grants.
func (j *Judge) cloud(p *proc) {
	if !p.means.open {
		return
	}
	hand := j.hand(p.client, p.lock)
	if hand.open++; hand.open == 1 {
		hand.since = p.call
	}
}

// settle processes the end of such an operation. effect: it had an effect, or may
// have had one. ends: it may have ended a hold.
func (j *Judge) settle(p *proc, effect, ends bool) {
	if !p.means.open {
		return
	}
	hand := j.hand(p.client, p.lock)
	hand.open--
	if effect {
		j.doubt(p, p.call, p.f)
		hand.marked = true
	}
	if ends {
		j.mark(hand, hand.since)
	}
}

// mark notes that all holds of a client on a lock may have ended at pos.
func (j *Judge) mark(h *hand, pos int32) {
	h.marked = true
	if h.open > 0 { // a later line may show that
		pos = min(pos, h.since)
	}
	for _, id := range h.mine {
		if gone := j.holds[id].gone; gone > pos {
			j.mayEnd(id, pos)
		}
	}
	h.mine = h.mine[:0]
	for _, p := range j.clients[h.client].asking {
		if q := &j.procs[p]; q.lock == h.lock {
			q.cloud = min(q.cloud, pos)
		}
	}
}

// doubt keeps, for each lock, the first operation that may be about several grants.
func (j *Judge) doubt(p *proc, pos int32, f string) {
	l := &j.locks[p.lock]
	if !slices.Contains(l.unclear, p.client) {
		l.unclear = append(l.unclear, p.client)
	}
	if l.doubt == "" {
		l.doubt = fmt.Sprintf("which of its grants %s means in line %d (%s)", j.clients[p.client].name, j.lines.of(pos), f)
	}
}

// doubt says in which readings an operation is a stray.
type doubt uint8

const (
	certain doubt = iota
	seems         // it may be about a grant that its client still has
	loose         // it is about one of the grants of its client; it is unknown which
)

// stands returns how certain it is that an operation is about no hold.
func (j *Judge) stands(p *proc) doubt {
	if p.means.open || j.reading(p.hold) != nil || j.hand(p.client, p.lock).open > 0 {
		return seems
	}
	return certain
}

// loose notes that process id learned at pos that it released, or extended, one of
// the grants of its client.
func (j *Judge) loose(id, pos int32, release bool) {
	if p := &j.procs[id]; p.means.open && !j.model.rule.leases { // stretches are not grants
		j.stray(stray{proc: id, call: p.call, ret: pos, release: release, doubt: loose, hold: none, over: none}, p.lock)
	}
}

// least returns the holds in their shortest forms: no reading has shorter ones.
func (j *Judge) least() []hold {
	holds := slices.Clone(j.holds)
	for i := range holds {
		if h := &holds[i]; h.joint != 0 {
			h.end = min(max(min(h.alone, j.losses[h.joint-1].least), h.floor), h.gone)
			h.alone, h.joint = h.end, 0
		}
	}
	for id, r := range j.readings {
		h := &holds[id]
		h.ret, h.end, h.gone, h.alone, h.joint = r.ret, r.end, r.gone, r.end, 0
	}
	return holds
}

// loose reports whether there are operations of which the grant is uncertain.
func (o *object) loose() bool {
	return slices.ContainsFunc(o.strays, func(s stray) bool { return s.doubt == loose })
}

// choices returns the states that a loose operation can lead to from s: it is about a
// grant that its client has, or one that may have been released before without an
// answer.
func (o *object) choices(s state, t *stray) (list []any) {
	for _, n := range unpack(s.held) {
		if h := &o.holds[n]; !o.mine(t, h) {
			continue
		}
		if !t.release {
			return []any{s}
		}
		next := s
		if next.held, _ = without(s.held, n); next.held == "" {
			next.nest = 0
		}
		next.spent = pack(s.spent, n)
		list = append(list, next)
	}
	for _, n := range unpack(s.over) {
		if _, spent := without(s.spent, n); t.release && !spent && o.mine(t, &o.holds[n]) && o.holds[n].gone == never {
			next := s
			next.spent = pack(s.spent, n)
			list = append(list, next)
		}
	}
	return list
}

// mine reports whether a loose operation may be about h.
func (o *object) mine(t *stray, h *hold) bool {
	return o.j.procs[h.proc].client == o.j.procs[t.proc].client && h.call < t.call
}
