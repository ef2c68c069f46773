package models

import (
	"fmt"
	"slices"
)

// reading returns the doubts about a hold, or nil.
func (a *account) reading(id int32) *reading {
	if id == none {
		return nil
	}
	return a.readings[id]
}

// least returns the holds in their shortest forms: no reading has shorter ones.
func (a *account) least() []hold {
	holds := slices.Clone(a.holds)
	for i := range holds {
		if h := &holds[i]; h.joint != 0 {
			h.end = min(max(min(h.alone, a.losses[h.joint-1].least), h.floor), h.gone)
			h.alone, h.joint = h.end, 0
		}
	}
	for id, r := range a.readings {
		h := &holds[id]
		h.ret, h.end, h.gone, h.alone, h.joint = r.ret, r.end, r.gone, r.end, 0
	}
	return holds
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
		j.doubt(p, p.lock, p.call, p.f)
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
func (j *Judge) doubt(p *proc, lock, pos int32, f string) {
	l := &j.locks[lock]
	if !slices.Contains(l.unclear, p.client) {
		l.unclear = append(l.unclear, p.client)
	}
	if l.doubt == "" {
		l.doubt = fmt.Sprintf("which of its grants %s means in line %d (%s)", j.clients[p.client].name, j.lines.of(pos), f)
	}
}

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
