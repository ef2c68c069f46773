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
	open := none // what its process asks for: it cannot have that yet
	if p.f == history.Acquire || p.f == history.Try {
		open = p.hold
	}
	var grants []int32 // the grants that it may be about, the likeliest first
	if e.Grant == 0 {
		if own := j.lastOf(p.first, hand); own != none && j.holds[own].nameless == 0 { // else another process may be releasing it
			if own == open {
				return meaning{hold: none}
			}
			return meaning{hold: own, open: j.clouded(hand, own)}
		}
		grants = append(j.last(&hand.sure, (*hold).certain, most), j.last(&hand.unsure, (*hold).uncertain, most)...)
	} else { // the name of a grant without an answer
		all := append(j.last(&hand.sure, (*hold).certain, len(j.holds)), j.last(&hand.unsure, (*hold).uncertain, len(j.holds))...)
		if e.F == history.Valid { // it does not show when the hold ended
			all = append(all, hand.ended...)
		}
		grants = slices.DeleteFunc(all, func(id int32) bool { return j.holds[id].named })
		grants = grants[:min(len(grants), most)]
	}
	grants = slices.DeleteFunc(grants, func(id int32) bool { return id == open })
	asking := slices.DeleteFunc(j.asking(p.client, l, id), func(a int32) bool { // an acquire that was released, or goes by another name
		h := j.procs[a].hold
		return h != none && (j.gone(h) || m.named && j.holds[h].named)
	})
	m.open = len(grants)+len(asking) > 1 || hand.doubtful()
	for _, a := range asking {
		if len(grants) > 0 && !reading && !m.named {
			break
		}
		grants = append(grants, j.asked(a, hand)) // it may have had its turn, with the answer still to come
		m.asked = append(m.asked, j.procs[a].hold)
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

// lastOf returns the last hold that an owner has got and that is not released, even if it
// was lost; or none.
func (j *Judge) lastOf(owner int32, hand *hand) int32 {
	hand.sure = slices.DeleteFunc(hand.sure, func(id int32) bool { return !j.holds[id].certain() })
	hand.unsure = slices.DeleteFunc(hand.unsure, func(id int32) bool { return !j.holds[id].uncertain() })
	last := none
	for _, list := range [][]int32{hand.sure, hand.unsure} {
		for _, id := range list {
			if h := &j.holds[id]; h.owner == owner && h.known && !h.unanswered {
				last = max(last, id)
			}
		}
	}
	return last
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

// last returns up to most entries of the list for which is holds, each once, from its end,
// and removes the others it meets there.
func (j *Judge) last(list *[]int32, is func(*hold) bool, most int) (found []int32) {
	n := len(*list)
	for ; n > 0 && len(found) < most; n-- {
		if id := (*list)[n-1]; is(&j.holds[id]) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	*list = (*list)[:n]
	for _, id := range slices.Backward(found) {
		*list = append(*list, id)
	}
	return found
}
