package models

import (
	"cmp"
	"slices"
)

// The ok of a release of a mutex without owners may confirm an earlier end of the
// hold: a release without an answer, a loss, or a death. Then the release itself does
// nothing.

// confirmable finds the first event that each ok release may confirm.
func (a *account) confirmable(events []event) {
	silent := make([]*event, 0, len(events))
	released, unsure := map[int32]bool{}, map[int32]bool{} // holds; clients with unclear operations
	for i := range events {
		e := &events[i]
		if e.n, e.by = int32(i), none; !e.release {
			continue
		}
		if e.silent() {
			silent = append(silent, e)
		} else if e.about != none {
			released[e.about] = true
		}
		if e.open {
			unsure[a.procs[e.proc].client] = true
		}
	}
	slices.SortStableFunc(silent, func(a, b *event) int { return cmp.Compare(a.call, b.call) })
	ofHold := map[int32][]*event{}
	ofClient, open := map[int32][]*event{}, map[int32][]*event{}
	for _, e := range silent {
		c := a.procs[e.proc].client
		e.asked = released[e.about] || unsure[c]
		if e.about != none && ofHold[e.about] == nil {
			ofHold[e.about] = []*event{e}
		}
		if unsure[c] {
			ofClient[c] = append(ofClient[c], e)
		}
		if e.open {
			open[c] = append(open[c], e)
		}
	}
	for i := range events {
		e := &events[i]
		if !e.release || e.silent() {
			continue
		}
		// A release of a known hold may be about the same hold as its other releases,
		// and as releases of uncertain meaning.
		others := ofClient
		if !e.open {
			others = open
		}
		for _, list := range [][]*event{ofHold[e.about], others[a.procs[e.proc].client]} {
			k := slices.IndexFunc(list, func(s *event) bool { return s.call >= e.ret || a.sameHold(s, e) })
			if k >= 0 && list[k].call < e.ret && (e.by == none || list[k].call < events[e.by].call) {
				e.by = list[k].n
			}
		}
	}
}

// mayBe reports whether a release may be about a hold.
func (a *account) mayBe(e *event, hold int32) bool {
	h := &a.holds[hold]
	return e.about == hold || e.open && h.call < e.call && a.procs[h.proc].client == a.procs[e.proc].client
}

// sameHold reports whether two releases may be about one hold.
func (a *account) sameHold(x, y *event) bool {
	switch {
	case x.open && y.open:
		return a.procs[x.proc].client == a.procs[y.proc].client
	case x.about != none && x.about == y.about:
		return true
	case x.open:
		return y.about != none && a.mayBe(x, y.about)
	default:
		return x.about != none && a.mayBe(y, x.about)
	}
}

// unclear returns the events of a lock in their most permissive form. For clients
// with operations of uncertain meaning all events are optional, and each of their
// grants may end at any time: no reading allows more.
func (a *account) unclear(l *lock) []event {
	list := slices.Clone(l.events)
	of := func(hold int32) int32 {
		if hold == none {
			return none
		}
		return a.procs[a.holds[hold].proc].client
	}
	for i := range list {
		e := &list[i]
		if c := l.unclear; !slices.Contains(c, a.procs[e.proc].client) && !slices.Contains(c, of(e.about)) {
			continue
		}
		e.ret, e.once = never, false
		if e.release {
			e.hold = none
			continue
		}
		e.tied = false
		list = append(list, event{proc: e.proc, call: e.call, ret: never, hold: none, release: true, about: e.hold})
	}
	slices.SortStableFunc(list, eventOrder)
	a.confirmable(list)
	return list
}
