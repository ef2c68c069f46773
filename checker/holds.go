package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Lines open and end holds in read.go, deaths end them in faults.go. The comment of hold
// has the rule, docs/record.md explains it.

// begin opens the hold that e, at pos, confirms for the acquire op.
func (t *timeline) begin(op, pos int32, e *history.Entry) int32 {
	o := &t.ops[op]
	p := &t.procs[o.proc]
	id := int32(len(t.holds))
	inside, nest := t.innermost(o.proc, o.lock), id
	if inside != none {
		nest = t.holds[inside].nest
	}
	stands, fellow := t.standsOn(op, e), none
	if stands != op {
		fellow, t.ops[stands].guest = t.ops[stands].guest, id
	}
	t.holds = append(t.holds, hold{
		lock: o.lock, proc: o.proc, op: op, stands: stands, fellow: fellow, begin: pos,
		end: t.size(), released: t.size(), gave: none, deadline: none, before: none, death: none,
		outer: p.inner, inside: inside, nest: nest, token: e.Token,
	})
	o.hold = id
	p.inner = id
	if c := &t.clients[p.client]; !p.listed {
		p.listed, p.holder, c.holders = true, c.holders, o.proc
	}
	if e.Grant != 0 {
		t.holdOf.put(e.Grant, id)
	}
	t.deadline(id, pos, e.ValidUntil)
	if c := &t.clients[t.procs[o.proc].client]; c.dead {
		t.endHold(id, c.died)
	}
	return id
}

// standsOn returns the acquire whose entries a grant uses; e is the ok of the acquire
// op. It is op, unless the ok names another acquire of its client. A lock that calls
// the critical section itself may do so twice on one entry.
func (t *timeline) standsOn(op int32, e *history.Entry) int32 {
	if a := t.opOf(e.Op); a != none && t.ops[a].verb == acquire && t.clientOf(a) == t.clientOf(op) {
		return a
	}
	return op
}

// presuppose opens the hold of an indeterminate acquire whose grant e confirms.
func (t *timeline) presuppose(pos int32, e *history.Entry) int32 {
	op, ok := t.unsure[e.Grant]
	if !ok {
		return none
	}
	delete(t.unsure, e.Grant)
	if t.ops[op].invoke < t.clients[t.clientOf(op)].gone {
		return none // it belongs to a life that ended, and so did its grant
	}
	confirmed := *e
	confirmed.Token, confirmed.ValidUntil, confirmed.Op = 0, 0, history.Opt{}
	id := t.begin(op, pos, &confirmed)
	t.confirmed = append(t.confirmed, id)
	return id
}

// deadline notes the deadline of a hold from e.
func (t *timeline) deadline(id, pos int32, until time.Duration) {
	if id == none || until == 0 || t.holds[id].end < pos {
		return
	}
	h := &t.holds[id]
	t.deadlines = append(t.deadlines, deadline{hold: id, pos: pos, prev: h.deadline, until: until})
	h.deadline = int32(len(t.deadlines)) - 1
}

// over notes that the grant that e names is no longer held, in case an indeterminate
// acquire got it.
func (t *timeline) over(e *history.Entry) { delete(t.unsure, e.Grant) }

func (t *timeline) released(id, pos int32) {
	if h := &t.holds[id]; h.released == t.size() {
		h.released = pos
	}
	t.endHold(id, pos)
}

// gaveBack notes that the release of hold id was ok.
func (t *timeline) gaveBack(id, pos int32) {
	if h := &t.holds[id]; h.gave == none {
		h.gave = pos
	}
}

func (t *timeline) endHold(id, pos int32) {
	if id == none || t.holds[id].end != t.size() {
		return
	}
	h := &t.holds[id]
	h.end = pos
	c := &t.clients[t.procs[h.proc].client]
	h.before, c.ended = c.ended, id
	for link := &t.procs[h.proc].inner; *link != none; link = &t.holds[*link].outer {
		if *link == id {
			*link = h.outer
			return
		}
	}
}

// lose ends hold id, whose client learns of its loss at pos, and all other holds on
// the same entry: those of its process and lock.
func (t *timeline) lose(id, pos int32) {
	if id == none || t.holds[id].end != t.size() {
		return
	}
	p, lock := t.holds[id].proc, t.holds[id].lock
	for id = t.innermost(p, lock); id != none; id = t.innermost(p, lock) {
		t.endHold(id, pos)
		t.holds[id].lost = true
	}
}

// leaves returns the position up to which h may have lasted. A client that ended by
// itself may have held until it asked to release, or until the line that says that it
// ended.
func (t *timeline) leaves(h *hold) int32 {
	if h.death == none || !t.deaths[h.death].itself {
		return h.end
	}
	return max(h.end, min(h.released, t.deaths[h.death].line))
}

// endHolds ends all holds of a client that has died. A hold that seemed to end later, by a release
// that the harness wrote, ended there too.
func (t *timeline) endHolds(d ending) {
	c, pos := &t.clients[d.client], d.from
	d.heard = c.last
	by := int32(len(t.deaths))
	t.deaths = append(t.deaths, d)
	// The list has holds in the order of their ends: those that ended after pos are
	// at its end.
	for id := c.ended; id != none && t.holds[id].end > pos; id = t.holds[id].before {
		t.holds[id].end, t.holds[id].death = pos, by
	}
	for p := c.holders; p != none; {
		q := &t.procs[p]
		for q.inner != none {
			t.holds[q.inner].death = by
			t.endHold(q.inner, pos)
		}
		p, q.listed, q.holder = q.holder, false, none
	}
	c.holders = none
}
