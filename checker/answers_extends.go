package checker

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// renewal is an extend that was ok, or a renewal that a client reported.
type renewal struct {
	hold int32 // the renewed hold
	pos  int32 // position at which the client knew of it
	sent int32 // its request left at this position or later
}

// grantee is the client that asked last for a grant that it got, of all clients or of
// all but one. The zero grantee is no client.
type grantee struct{ number, hold, sent int32 } // number is the client's, counted from 1

// gap returns the witness of the first renewal that cannot be true, and its position.
// Another client was granted the lock after the renewed grant and before the
// renewal's request left. Then the grant had ended, so it could not be prolonged.
// Without such a renewal gap returns nil and the size of the history.
//
// Lines only limit the times at which a request left and was answered. So the other
// grant counts only if its request left after the renewed grant had come, and its ok
// came before the renewal's request left. A request leaves at its invoke or later. If
// a lease is declared, a request for a grant, or a renewal in the background, left no
// earlier than a term before the time that it brought. Without a declared lease it is
// unknown when a renewal in the background left.
func (t *timeline) gap() (*Witness, int32) {
	at := t.size()
	if t.renewals == 0 && t.extended == 0 {
		return nil, at
	}
	term := t.term()
	renewals := t.renewed(term)
	slices.SortStableFunc(renewals, func(a, b renewal) int { return int(a.sent - b.sent) })
	var w *Witness
	last := make([][2][2]grantee, len(t.locks.list)) // by lock: exclusive and shared grants, of two clients
	next := 0
	for _, r := range renewals {
		for ; next < len(t.holds) && t.holds[next].begin < r.sent; next++ {
			h := &t.holds[next]
			enter(&last[h.lock][t.shared(h)], grantee{t.clientOf(h.op) + 1, int32(next), t.grantSent(int32(next), term)})
		}
		h := &t.holds[r.hold]
		for kind := range 2 - t.shared(h) { // a reader's grant does not end another reader's
			for _, g := range last[h.lock][kind] {
				if g.number != 0 && g.number != t.clientOf(h.op)+1 && g.sent > h.begin && r.pos < at && !t.posthumous(t.clientOf(h.op), r.pos) && !t.goesOn(h.lock) {
					w, at = t.falseRenewal(&r, &t.holds[g.hold]), r.pos
				}
			}
		}
	}
	return w, at
}

// enter keeps the two clients that asked last for their grants.
func enter(list *[2]grantee, g grantee) {
	switch {
	case list[0].number == g.number:
		if g.sent > list[0].sent {
			list[0] = g
		}
	case g.sent >= list[0].sent:
		list[0], list[1] = g, list[0]
	case g.sent >= list[1].sent:
		list[1] = g
	}
}

// renewed lists the extends that were ok, and the renewals that clients reported.
func (t *timeline) renewed(term time.Duration) []renewal {
	var list []renewal
	for i := range t.ops {
		if o := &t.ops[i]; o.verb == extend && o.outcome == history.OK && o.hold != none {
			list = append(list, renewal{o.hold, o.done, o.invoke})
		}
	}
	if term == 0 {
		return list
	}
	for i := range t.deadlines {
		if d := &t.deadlines[i]; t.entry(d.pos).F == history.Valid {
			list = append(list, renewal{d.hold, d.pos, t.sent(t.holds[d.hold].begin, d.until, term)})
		}
	}
	return list
}

// term returns the longest time that a request for a grant brings: T, or the longest
// remaining time that a client ever knew, if that is longer. It returns 0 if no lease
// is declared.
func (t *timeline) term() time.Duration {
	term := t.lease
	for i := range t.deadlines {
		if d := &t.deadlines[i]; term > 0 {
			term = max(term, d.until-t.at(d.pos))
		}
	}
	return term
}

// sent returns the earliest position at which a request may have left that left at
// asked or later and brought the time until: the first one at which at most a term
// and a tenth was left until then.
func (t *timeline) sent(asked int32, until, term time.Duration) int32 {
	if until == 0 || term == 0 {
		return asked
	}
	return max(asked, t.firstAt(until-outlasts(term)))
}

// grantSent returns the earliest position at which the request for a hold may have
// left. A hold that rests on another grant of its client is as old as that one. Only
// a deadline from the acquire's answer limits it: a later deadline comes from a
// renewal.
func (t *timeline) grantSent(id int32, term time.Duration) int32 {
	h := &t.holds[id]
	root := &t.holds[h.nest]
	invoke := t.ops[root.stands].invoke
	if h.nest != id || h.guest() || t.ops[h.op].done != h.begin {
		return invoke
	}
	return t.sent(invoke, t.entry(h.begin).ValidUntil, term)
}

func (t *timeline) falseRenewal(r *renewal, other *hold) *Witness {
	h := &t.holds[r.hold]
	asked := none
	did := "reported at %s that it still held %s"
	if o := t.opAt[r.pos]; o != none {
		asked, did = t.ops[o].invoke, "was told at %s that it still held %s"
	}
	return witness([]int32{h.begin, other.begin, asked, r.pos},
		"%s "+did+", which it was granted at %s, but %s was granted it at %s, in between.",
		t.procName(h.proc), t.when(r.pos), t.lockName(h.lock), t.when(h.begin), t.procName(other.proc), t.when(other.begin))
}
