package checker

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// ownership: no command issued for another grant, or for no grant, removes, shortens
// or takes over a protected grant.
//
// A grant is protected if its acquire comes back ok, from the moment at which the
// server made its entry. This includes the time while the ok is on its way: the
// client will then believe in an entry that it has already lost, and no correct lock
// touches another grant's entry in that time. A grant may have an entry on each of
// several servers, and an extend may replace the first entries by new ones.
// Protection ends with the invoke of its release, or when its valid_until has passed;
// the death of its client does not end it. A grant that stands on the entries of
// another acquire is protected from its ok on, against other clients. Entries that an
// acquire had before a server granted it anew do not belong to the grant: a place
// that it lost while it went on waiting, or a lease that ended without its knowledge.
// Acts of the server by itself, and acts of the owner, are not judged. Without times
// it is unknown whether a valid_until had passed.
func ownership(t *timeline) Verdict {
	if reason := t.unseen(Ownership); reason != "" {
		return notApplicable(Ownership, reason)
	}
	verdict := valid(Ownership)
	for i := range t.acts {
		a := &t.acts[i]
		h := t.victim(a)
		switch {
		case h == nil || !t.protected(h, a.pos) || t.grantedAnew(i, h):
		case h.deadline != none && t.end == 0:
			verdict = unknown(Ownership, "the history has no times, so it is unknown whether a deadline had passed")
		case !t.goesOn(h.lock):
			return violated(Ownership, t.trespass(a, h))
		}
	}
	return verdict
}

// victim returns the hold that a acts on against its owner, or nil. It prefers a
// protected one.
func (t *timeline) victim(a *act) *hold {
	switch a.deed {
	case removed, takenOver, shortened:
	default:
		return nil
	}
	if a.made == none || a.by == none {
		return nil
	}
	var victim *hold
	if id := t.ops[a.made].hold; id != none {
		h := &t.holds[id]
		if t.ops[h.op].outcome == history.OK && !t.owns(&t.ops[a.by], a.by, h) {
			victim = h
		}
	}
	if victim != nil && t.protected(victim, a.pos) {
		return victim
	}
	for id := t.guestOf(a.made); id != none; id = t.holds[id].fellow {
		if h := &t.holds[id]; h.begin < a.pos && t.protected(h, a.pos) && !t.owns(&t.ops[a.by], a.by, h) {
			return h
		}
	}
	return victim
}

// grantedAnew reports whether the server of act i granted the acquire of h once more
// before its ok.
func (t *timeline) grantedAnew(i int, h *hold) bool {
	e := t.entry(t.acts[i].pos)
	for _, a := range t.acts[i+1:] {
		if a.pos > h.begin {
			break
		}
		if other := t.entry(a.pos); a.grants() == h.op && other.Process == e.Process && other.Key == e.Key {
			return true
		}
	}
	return false
}

// owns reports whether operation id may act on the entry of h. It may if it is the
// acquire of h, if it acts for a grant on the same entries, or if it belongs to the
// same process and began while h was open. The last case covers a nested acquire and
// its release: they rest on one entry, and count as one grant. If h stands on the
// entries of another acquire, its client owns them.
func (t *timeline) owns(o *op, id int32, h *hold) bool {
	return id == h.op || (o.hold != none && t.holds[o.hold].stands == h.stands) ||
		(o.proc == h.proc && h.covers(o.invoke)) ||
		h.guest() && t.procs[o.proc].client == t.procs[h.proc].client
}

func (t *timeline) protected(h *hold, pos int32) bool {
	if pos >= h.released {
		return false
	}
	until := t.validUntil(h, pos)
	return until == 0 || t.at(pos) < until
}

func (t *timeline) trespass(a *act, h *hold) *Witness {
	done := map[deed]string{removed: "removed", takenOver: "took over", shortened: "shortened"}[a.deed]
	by := &t.ops[a.by]
	who, whose := t.pair(by.proc, h.proc)
	own := ""
	if by.hold != none && by.verb != acquire {
		own = fmt.Sprintf(", for what it was granted at %s,", t.when(t.holds[by.hold].begin))
	}
	entries, until := []int32{h.begin, by.invoke, a.pos}, time.Duration(0)
	if d := t.known(h, a.pos); d != none {
		entries, until = append(entries, t.deadlines[d].pos), t.deadlines[d].until
	}
	return witness(entries,
		"the %s that %s invoked at %s%s %s %s's entry for %s at %s; %s was granted it at %s%s, and had not invoked its release.",
		t.entry(by.invoke).F, who, t.when(by.invoke), own, done, whose, t.lockName(h.lock), t.when(a.pos),
		whose, t.when(h.begin), untilWords(until))
}
