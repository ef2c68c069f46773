package models

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// held returns the hold that e acts on. If e names a grant, it is the client's hold
// with that grant. Otherwise it is the last hold of its process, else the last one of
// the client, else one that the client may have.
func (j *Judge) held(e *history.Entry, id int32) meaning {
	p := &j.procs[id]
	if h := j.grants.get(e.Grant); h != none {
		if j.procs[j.holds[h].proc].client != p.client && j.model.kind == holding {
			h = none // it belongs to another client
		}
		return meaning{hold: h, named: true}
	}
	l, ok := j.lockOf[e.Lock]
	if !ok {
		return meaning{hold: none, named: e.Grant != 0}
	}
	hand := j.hand(p.client, l)
	m := meaning{hold: none, named: e.Grant != 0}
	reading := j.choices != nil && j.choices.lock == l
	most := 2
	if reading {
		most = len(j.holds)
	}
	var grants []int32 // the grants that it may be about, the likeliest first
	if e.Grant == 0 {
		for i := len(hand.sure) - 1; i >= 0; i-- {
			if h := &j.holds[hand.sure[i]]; h.owner == p.first && h.certain() {
				return meaning{hold: hand.sure[i], open: j.clouded(hand, hand.sure[i])}
			}
		}
		grants = j.last(&hand.sure, (*hold).certain, most)
	} // else it names a grant without an answer
	grants = append(grants, j.last(&hand.unsure, (*hold).uncertain, most)...)
	asking := j.asking(p.client, l, id)
	m.open = len(grants)+len(asking) > 1 || hand.doubtful()
	for _, a := range asking {
		if len(grants) > 0 && !reading {
			break
		}
		grants = append(grants, j.asked(a, hand)) // it may have had its turn, with the answer still to come
	}
	switch {
	case len(grants) == 0:
	case reading && m.open:
		m.hold, m.open = j.choices.pick(grants), false
	default:
		m.hold = grants[0]
	}
	return m
}

// asked returns the hold that a process asks for.
func (j *Judge) asked(id int32, h *hand) int32 {
	a := &j.procs[id]
	if a.hold == none {
		a.hold = j.add(hold{lock: h.lock, proc: id, call: a.call, ret: never, queued: none, shared: a.shared})
		h.mine = append(h.mine, a.hold)
	}
	return a.hold
}

// last returns up to most entries of the list for which is holds, from its end, and
// removes the others it meets there.
func (j *Judge) last(list *[]int32, is func(*hold) bool, most int) (found []int32) {
	n := len(*list)
	for ; n > 0 && len(found) < most; n-- {
		if id := (*list)[n-1]; is(&j.holds[id]) {
			found = append(found, id)
		}
	}
	*list = (*list)[:n]
	for _, id := range slices.Backward(found) {
		*list = append(*list, id)
	}
	return found
}

// over notes that from pos on the owner of a hold does not know whether it has it.
func (j *Judge) over(id, pos int32) {
	j.doubted(id, pos)
	j.holds[id].close(pos)
}

// doubted does the same as over for a hold that does not end without a release.
func (j *Judge) doubted(id, pos int32) {
	h := &j.holds[id]
	if h.certain() {
		hand := j.hand(j.procs[h.proc].client, h.lock)
		hand.unsure = append(hand.unsure, id)
	}
	h.end = min(h.end, pos)
}

// cease notes that a hold may have ended at pos, by a loss or a death.
func (j *Judge) cease(id, pos int32) {
	j.over(id, pos)
	if j.model.kind == anonymous && j.holds[id].gone > pos {
		if at, ok := j.ceased[id]; ok {
			pos = min(pos, at)
		}
		j.ceased[id] = pos
	}
}

// refute takes back a hold whose acquire failed. A release or an extend of it that
// was ok becomes a stray.
func (j *Judge) refute(id int32) {
	h := &j.holds[id]
	s := stray{proc: h.proc, hold: none, over: none}
	if j.reading(id) != nil {
		s.doubt = seems
	}
	if h.gone != never {
		s.call, s.ret, s.release = h.end, h.gone, true
		j.stray(s, h.lock)
	} else if h.known {
		s.call, s.ret = max(h.floor, h.call), h.ret
		j.stray(s, h.lock)
	}
	h.void, h.known, h.ret, h.end, h.gone, h.floor = true, false, never, never, never, none
	h.alone, h.joint = never, 0
	if r := j.reading(id); r != nil {
		r.ret, r.floor = never, none
	}
}

// voided reports whether the acquire of hold id failed: what a line says of it later
// is about no hold.
func (j *Judge) voided(id int32) bool { return id != none && j.holds[id].void }

// told notes that an acquire did happen. open: the line may be about another grant.
func (j *Judge) told(id, pos int32, open bool) {
	h := &j.holds[id]
	if r := j.reading(id); r != nil && !open {
		r.ret = min(r.ret, pos)
	}
	h.ret = min(h.ret, pos)
	if !h.known {
		h.known = true
		if hand := j.hand(j.procs[h.proc].client, h.lock); h.certain() {
			hand.sure = append(hand.sure, id)
		}
	}
}
