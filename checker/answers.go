package checker

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// answers checks that the lock's replies were true:
//   - An acquire or try that failed had left no entry of its own when it failed.
//   - An acquire that was ok had been granted by a server: its request made an entry,
//     took one over, or prolonged one as its owner. A nested acquire may rest on the
//     entry that its process has already. A grant may stand on the entries of another
//     acquire of its client, if its ok names that acquire.
//   - After a release that was ok the grant's entries are gone, or a request removes
//     them later, no matter whose (see unreleased).
//   - If the lock's releases compare (see tells): a release that was ok found an entry of
//     its grant, and one that failed removed none.
//   - An extend that was ok, and a renewal that the client reports, prolonged a grant
//     that no other client had got meanwhile (see gap). This is judged from the lines
//     of clients alone, whether or not the servers were observed.
//
// A grant may have an entry on each of several servers: a fail leaves no entry on any
// of them, an ok needs one entry, and after a release all entries are gone. Entries
// that several grants stand on may stay until the last of these grants has been
// released with an ok: only that release is judged. A failed acquire may have left
// the entries to the other grants. Operations without an answer are never judged. Nor
// is an answer that a client got when it may have been dead already: it may rest on
// holds that ended with the kill.
func answers(t *timeline) Verdict {
	first, at := t.gap()
	if reason := t.unseen(Answers); reason != "" {
		if first != nil {
			return violated(Answers, first)
		}
		return notApplicable(Answers, reason)
	}
	s := t.stored()
	for i := range t.ops {
		o := &t.ops[i]
		if o.done == none || o.done >= at {
			continue
		}
		if w := s.lie(int32(i)); w != nil && !t.posthumous(t.clientOf(int32(i)), o.done) && !t.goesOn(o.lock) {
			first, at = w, o.done
		}
	}
	if first != nil {
		return violated(Answers, first)
	}
	return valid(Answers)
}

// lie returns the witness that the answer to operation id was untrue, or nil.
func (s *stored) lie(id int32) *Witness {
	o := &s.ops[id]
	switch {
	case o.verb == acquire && o.outcome == history.Fail:
		if e := s.there(id, o.done); e != none && s.shared[id] > o.done {
			return s.falseNo(o, e)
		}
	case o.verb == acquire && o.outcome == history.OK:
		h := &s.holds[o.hold]
		if !s.granted(id, o.done) && !s.granted(h.stands, o.done) && h.inside == none && !h.stillborn() {
			return s.falseYes(o)
		}
	case o.verb == release && o.outcome == history.Fail && o.hold != none:
		h := &s.holds[o.hold]
		if pos := s.removal(id, h); pos != none && s.tells(id, h) {
			return s.falseRefusal(o, pos)
		}
	case o.verb == release && o.outcome == history.OK && o.hold != none:
		h := &s.holds[o.hold]
		made := h.stands
		if e := s.nothing(o, h); e != none && s.removal(id, h) == none && s.tells(id, h) {
			return s.emptyRelease(o, e)
		}
		if o.done < s.back[made] {
			return nil
		}
		if e := s.unreleased(id, made); e != none {
			return s.falseRelease(o, e)
		}
	}
	return nil
}

func (s *stored) falseNo(o *op, e int32) *Witness {
	from := s.entries[e].from
	gone := "was still there at the end"
	if to := s.entries[e].to; to < s.size() {
		gone = fmt.Sprintf("stayed until %s", s.when(to))
	}
	return s.untrue(o, []int32{o.invoke, from, o.done}, "did not get", fmt.Sprintf(
		"but %s held its entry since %s, which %s", s.entry(from).Process, s.when(from), gone))
}

func (s *stored) falseYes(o *op) *Witness {
	return s.untrue(o, []int32{o.invoke, o.done}, "got", fmt.Sprintf(
		"for which it had asked at %s, and no server had granted it", s.when(o.invoke)))
}
