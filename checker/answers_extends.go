package checker

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// renewal is a yes to an extend, or a renewal that a client reported.
type renewal struct {
	hold int32 // that goes on by it
	pos  int32 // at which the client knew
	sent int32 // no request that brought it left before this position
}

// grantee is the client that asked last for a grant that it got, of all or of all
// but one. The zero grantee is nobody.
type grantee struct{ number, hold, sent int32 } // number is the client's, counted from 1

// gap returns the witness of the first renewal that cannot be true, and where it
// stands: another client was granted the lock after the renewed grant and before
// the renewal was asked for. Then the grant had ended, so it could not be prolonged.
// Without such a renewal it returns nil and the size of the history.
//
// Lines say when a client asked at the earliest and when it had its answer. So the
// other grant counts only if its request left after the renewed grant had come, and
// its ok came before the renewal's request left. A request left at its invoke or
// later. Where a lease is declared, a request for a grant, and a renewal in the
// background, left no earlier than a term before the time that it brought. Without
// a declared lease nothing is known of a renewal in the background.
func (t *timeline) gap() (*Witness, int32) {
	at := t.size()
	if t.renewals == 0 && t.extended == 0 {
		return nil, at
	}
	term := t.term()
	renewals := t.renewed(term)
	slices.SortStableFunc(renewals, func(a, b renewal) int { return int(a.sent - b.sent) })
	var w *Witness
	last := make([][2][2]grantee, len(t.locks.list)) // by lock: of exclusive and of shared grants, of two clients
	next := 0
	for _, r := range renewals {
		for ; next < len(t.holds) && t.holds[next].begin < r.sent; next++ {
			h := &t.holds[next]
			enter(&last[h.lock][t.shared(h)], grantee{t.clientOf(h.op) + 1, int32(next), t.grantSent(int32(next), term)})
		}
		h := &t.holds[r.hold]
		for kind := range 2 - t.shared(h) { // readers do not end each other's grants
			for _, g := range last[h.lock][kind] {
				if g.number != 0 && g.number != t.clientOf(h.op)+1 && g.sent > h.begin && r.pos < at {
					w, at = t.falseRenewal(&r, &t.holds[g.hold]), r.pos
				}
			}
		}
	}
	return w, at
}

// enter keeps of two clients the grant that was asked for last.
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

// shared is 1 for the grant of a reader, and 0 for any other.
func (t *timeline) shared(h *hold) int {
	if t.ops[h.op].shared {
		return 1
	}
	return 0
}

// renewed lists what clients were told, and what they reported, of grants that go on.
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

// term is the longest time that a request for a grant brings: T, or as much as was
// left at some time that a client got to know, if that is longer. 0: no lease is
// declared.
func (t *timeline) term() time.Duration {
	term := t.lease
	for i := range t.deadlines {
		if d := &t.deadlines[i]; term > 0 {
			term = max(term, d.until-t.at(d.pos))
		}
	}
	return term
}

// sent is a position that the sending of a request does not precede, which left at
// asked or later and brought the time until: the first one at which no more than a
// term, and a tenth, was left of that.
func (t *timeline) sent(asked int32, until, term time.Duration) int32 {
	if until == 0 || term == 0 {
		return asked
	}
	return max(asked, t.firstAt(until-outlasts(term)))
}

// grantSent is a position that the sending of the request that got a hold does not
// precede. A hold that rests on another grant of its client's is as old as that. Only
// the answer to the acquire tells when that was sent: a later time is that of a renewal.
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
