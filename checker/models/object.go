package models

import "slices"

// object is one lock with all its operations, as both judges see it.
type object struct {
	*account
	lock     int32
	holds    []hold
	strays   []stray
	refused  []refusal
	events   []event
	accesses []access
}

// objects returns the locks with their judged operations. sure leaves out operations
// of uncertain meaning, and makes the others as short as any reading has them.
func (a *account) objects(sure bool) []*object {
	list := make([]*object, len(a.locks))
	for i := range a.locks {
		l := &a.locks[i]
		o := &object{account: a, lock: int32(i), strays: slices.Clone(l.strays), refused: l.refused, events: l.events, accesses: l.accesses}
		o.strays = slices.DeleteFunc(o.strays, func(s stray) bool { return s.doubt == loose && !sure || s.doubt == seems && sure })
		if sure && a.model.kind == anonymous {
			o.events = a.unclear(l)
		}
		if a.resources { // they stand where the accesses took effect
			o.accesses = l.effects
		}
		if f := a.model.First; f.Set {
			o.accesses = append([]access{{what: write, known: true, proc: none, call: atFirst, ret: atFirst, value: f.V}}, o.accesses...)
		}
		slices.SortStableFunc(o.accesses, func(a, b access) int { return int(a.call) - int(b.call) })
		list[i] = o
	}
	switch {
	case a.model.kind != holding:
	case sure:
		a.share(list, a.least())
	default:
		a.share(list, a.holds)
	}
	return list
}

// share gives each lock its holds.
func (a *account) share(list []*object, holds []hold) {
	if len(list) == 1 && !a.model.rule.leases {
		list[0].holds = holds
		return
	}
	place := make([]int32, len(holds)) // index in the list of its lock
	for i := range holds {
		o := list[holds[i].lock]
		place[i] = int32(len(o.holds))
		o.holds = append(o.holds, holds[i])
	}
	for _, o := range list {
		for i := range o.strays {
			if h := &o.strays[i].hold; *h != none {
				*h = place[*h]
			}
		}
	}
	if !a.model.rule.leases {
		return
	}
	deadlines := make([][]deadline, len(list))
	for _, d := range a.deadlines {
		l := holds[d.hold].lock
		deadlines[l] = append(deadlines[l], deadline{place[d.hold], d.pos, d.call, d.until, d.granted})
	}
	for i, o := range list {
		o.holds = a.stretches(o.holds, deadlines[i])
	}
}

// start returns the state of the object before the history.
func (o *object) start() state {
	return state{value: o.model.First.V, known: o.model.First.Set}
}

// loose reports whether there are operations of which the grant is uncertain.
func (o *object) loose() bool {
	return slices.ContainsFunc(o.strays, func(s stray) bool { return s.doubt == loose })
}

// operations lists those that may take effect between two positions.
func (o *object) operations(from, to int32) []operation {
	var list []operation
	var losses []int32
	maybe := o.loose() || len(o.refused) > 0 // an indeterminate acquire may be needed
	add := func(kind opKind, n int, call, ret, proc int32, optional bool) {
		if call <= to && ret >= from {
			list = append(list, operation{opID{kind, int32(n)}, call, ret, proc, optional})
		}
	}
	for i := range o.holds {
		h := &o.holds[i]
		if h.call > to || h.gone < from || h.void {
			continue
		}
		if o.model.rule.fifo && h.ret >= from && (h.presupposed() || maybe) {
			in := h.ret
			if h.queued != none && h.presupposed() {
				in = h.queued
			}
			list = append(list, operation{opID{queueOp, int32(i)}, h.call, in, h.proc, !h.presupposed()})
		}
		add(acquireOp, i, h.call, h.ret, h.proc, !h.presupposed())
		switch {
		case h.joint == 0 && h.end != never:
			add(releaseOp, i, h.end, h.gone, h.proc, h.gone == never)
		case h.joint != 0:
			if h.alone != never {
				add(releaseOp, i, h.alone, h.gone, h.proc, h.gone == never)
			}
			if l := h.joint - 1; !slices.Contains(losses, l) {
				losses = append(losses, l)
				add(lossOp, int(l), o.losses[l].pos, never, h.proc, true)
			}
		}
	}
	for i, s := range o.strays {
		add(strayOp, i, s.call, s.ret, s.proc, false)
	}
	for i, r := range o.refused {
		add(refusedOp, i, r.call, r.ret, r.proc, false)
	}
	for i, e := range o.events {
		add(eventOp, i, e.call, e.ret, e.proc, e.ret == never)
	}
	for i := range o.accesses {
		a := &o.accesses[i]
		if a.call != atFirst { // atFirst is the state that o.start returns
			add(accessOp, i, a.call, a.ret, a.proc, a.ret == never)
		}
	}
	return list
}

// count returns how many operations of an object are judged.
func (o *object) count() int {
	n := len(o.strays) + len(o.refused) + len(o.events) + len(o.accesses)
	if o.model.First.Set {
		n--
	}
	for i := range o.holds {
		if n++; o.holds[i].end != never {
			n++
		}
	}
	return n
}

// unanswered returns how many acquires, events and accesses may or may not have
// happened.
func (o *object) unanswered() (n int) {
	for i := range o.holds {
		if h := &o.holds[i]; !h.presupposed() && !h.void {
			n++
		}
	}
	for i := range o.events {
		if o.events[i].ret == never {
			n++
		}
	}
	for i := range o.accesses {
		if o.accesses[i].ret == never {
			n++
		}
	}
	return n
}

// procOf returns the process of an operation.
func (o *object) procOf(x opID) int32 {
	switch x.kind {
	case strayOp:
		return o.strays[x.n].proc
	case refusedOp:
		return o.refused[x.n].proc
	case eventOp:
		return o.events[x.n].proc
	case accessOp:
		return o.accesses[x.n].proc
	case lossOp:
		return o.losses[x.n].proc
	default:
		return o.holds[x.n].proc
	}
}

// relax makes x optional. It returns false if x then has no effect at all.
func (o *object) relax(x *operation) bool {
	switch {
	case x.kind == strayOp || x.kind == refusedOp:
		return false
	case x.kind == accessOp && (o.accesses[x.n].what == read || o.accesses[x.n].what == refuse) && !o.model.rule.fenced:
		return false
	}
	x.optional = true
	return true
}
