package models

import (
	"cmp"
	"slices"
)

// The ok of a release of a mutex without owners may confirm an earlier end of the
// hold: a release without an answer, a loss, or a death. Then the release itself does
// nothing.

// confirms reports whether e may be such a release.
func (e event) confirms() bool { return e.release && e.ret != never && e.by != none }

// silent reports whether e may have ended a hold without an answer.
func (e *event) silent() bool { return e.release && e.ret == never }

// confirmable finds the first event that each ok release may confirm.
func (j *Judge) confirmable(events []event) {
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
			unsure[j.procs[e.proc].client] = true
		}
	}
	slices.SortStableFunc(silent, func(a, b *event) int { return cmp.Compare(a.call, b.call) })
	ofHold := map[int32][]*event{}
	ofClient, open := map[int32][]*event{}, map[int32][]*event{}
	for _, e := range silent {
		c := j.procs[e.proc].client
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
		for _, list := range [][]*event{ofHold[e.about], others[j.procs[e.proc].client]} {
			k := slices.IndexFunc(list, func(s *event) bool { return s.call >= e.ret || j.sameHold(s, e) })
			if k >= 0 && list[k].call < e.ret && (e.by == none || list[k].call < events[e.by].call) {
				e.by = list[k].n
			}
		}
	}
}

// mayBe reports whether a release may be about a hold.
func (j *Judge) mayBe(e *event, hold int32) bool {
	h := &j.holds[hold]
	return e.about == hold || e.open && h.call < e.call && j.procs[h.proc].client == j.procs[e.proc].client
}

// sameHold reports whether two releases may be about one hold.
func (j *Judge) sameHold(a, b *event) bool {
	switch {
	case a.open && b.open:
		return j.procs[a.proc].client == j.procs[b.proc].client
	case a.about != none && a.about == b.about:
		return true
	case a.open:
		return b.about != none && j.mayBe(a, b.about)
	default:
		return a.about != none && j.mayBe(b, a.about)
	}
}

// loosened returns events in which each release that may confirm an event without an
// answer may come as early as that event. Each such event is then needed once: the
// confirmed one may come in place of the release itself, or, if most is false, not at
// all. If most is true, grants that may have ended before they were certain are
// optional, so that the events allow everything that the history allows.
func (o *object) loosened(events []event, most bool) []event {
	list := slices.Clone(events)
	used := make([]bool, len(o.events))
	for i := range list {
		e := &list[i]
		if most && e.tied {
			e.ret = never
		}
		if !e.confirms() {
			continue
		}
		by := &o.events[e.by]
		switch {
		case by.call >= e.call:
		case by.hold == none && !used[e.by]: // else it is not in the list
			used[e.by] = true
			list[e.by].call, e.call = e.call, by.call
		case most:
			e.call = by.call
		}
	}
	if !most {
		left := list[:0]
		for i, e := range list {
			if !used[i] {
				left = append(left, e)
			}
		}
		list = left
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	return list
}

// unclear returns the events of a lock in their most permissive form. For clients
// with operations of uncertain meaning all events are optional, and each of their
// grants may end at any time: no reading allows more.
func (j *Judge) unclear(l *lock) []event {
	list := slices.Clone(l.events)
	of := func(hold int32) int32 {
		if hold == none {
			return none
		}
		return j.procs[j.holds[hold].proc].client
	}
	for i := range list {
		e := &list[i]
		if c := l.unclear; !slices.Contains(c, j.procs[e.proc].client) && !slices.Contains(c, of(e.about)) {
			continue
		}
		e.ret = never
		if e.release {
			e.hold = none
			continue
		}
		e.tied = false
		list = append(list, event{proc: e.proc, call: e.call, ret: never, hold: none, release: true, about: e.hold})
	}
	slices.SortStableFunc(list, eventOrder)
	j.confirmable(list)
	return list
}

// releases returns the states that an ok release can lead to from s: it ends the
// present hold, or confirms an event that ended the hold that it is about.
func (o *object) releases(s state, e *event) (list []any) {
	if s.locked {
		next := s
		next.locked, next.held = false, ""
		list = append(list, next)
	}
	for _, n := range unpack(s.over) {
		if o.j.sameHold(&o.events[n], e) {
			next := s
			next.over, _ = without(s.over, n)
			list = append(list, next)
		}
	}
	return list
}
