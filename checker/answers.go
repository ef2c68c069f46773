package checker

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// answers: what a client was told is true in the store.
//   - An acquire or try that said no left nothing of its own there when it said so.
//   - One that said yes was granted by a server before: its request made an
//     entry, took one over, or prolonged one as its owner. A nested acquire may
//     rest on the entry that its process has already.
//   - After a release that said yes the grant's entries are gone, whoever
//     removed them, or go: an entry that is still there at the end convicts
//     once T has passed since, and never where nobody says how long T is.
//
// What ended without an answer is never judged.
func answers(t *timeline) Verdict {
	if reason := t.unseen(Answers); reason != "" {
		return notApplicable(Answers, reason)
	}
	s := t.stored()
	var first *Witness
	at := t.size()
	for i := range t.ops {
		o := &t.ops[i]
		if o.done == none || o.done >= at {
			continue
		}
		if w := s.lie(int32(i)); w != nil {
			first, at = w, o.done
		}
	}
	if first != nil {
		return violated(Answers, first)
	}
	return valid(Answers)
}

// stored is what was in the stores, and when.
type stored struct {
	*timeline
	entries []stay
	latest  []int32 // by operation: the last entry that its acquire made, or none
	served  []int32 // by operation: the first act of a server that makes its yes true, or none
}

// stay is the time that one entry was in one store.
type stay struct {
	from, to int32 // positions
	before   int32 // another entry of the same acquire, or none
}

func (t *timeline) stored() stored {
	s := stored{
		timeline: t,
		entries:  room(t.stays, len(t.acts)),
		latest:   t.scratch.zeros(len(t.ops)),
		served:   t.scratch.zeros(len(t.ops)),
	}
	t.stays = s.entries // there are no more than acts
	for i := range s.latest {
		s.latest[i], s.served[i] = none, none
	}
	for i := range t.acts {
		s.take(&t.acts[i])
	}
	return s
}

func (s *stored) take(a *act) {
	switch a.deed {
	case granted:
		s.put(a.made, a.pos)
		s.serve(a.made, a.pos)
	case takenOver:
		s.leave(a)
		if a.by != a.made {
			s.put(a.by, a.pos)
		}
		s.serve(a.by, a.pos)
	case prolonged:
		s.serve(a.by, a.pos)
	case removed, expired, lost:
		s.leave(a)
	}
}

func (s *stored) serve(op, pos int32) {
	if op != none && s.served[op] == none {
		s.served[op] = pos
	}
}

// put adds an entry of acquire op, unless it is there already: a request that
// recognises its own entry grants it again.
func (s *stored) put(op, pos int32) {
	if op == none || s.ops[op].verb != acquire || s.find(op, pos, true) != none {
		return
	}
	s.entries = append(s.entries, stay{from: pos, to: s.size(), before: s.latest[op]})
	s.latest[op] = int32(len(s.entries)) - 1
}

func (s *stored) leave(a *act) {
	if a.made == none {
		return
	}
	id := s.find(a.made, a.pos, true)
	if id == none {
		id = s.find(a.made, a.pos, false)
	}
	if id != none {
		s.entries[id].to = a.pos
	}
}

// find is the entry of acquire op that the line at pos is about: the one with
// its key, and with its server too if exact. A server that took over from
// another speaks of entries that the other made.
func (s *stored) find(op, pos int32, exact bool) int32 {
	e := &s.timeline.entries[pos]
	for id := s.latest[op]; id != none; id = s.entries[id].before {
		made := &s.timeline.entries[s.entries[id].from]
		if s.entries[id].to == s.size() && made.Key == e.Key && (!exact || made.Process.Name == e.Process.Name) {
			return id
		}
	}
	return none
}

// there is an entry of acquire op that is in a store at pos, or none.
func (s *stored) there(op, pos int32) int32 {
	for id := s.latest[op]; id != none; id = s.entries[id].before {
		if s.entries[id].from < pos && pos < s.entries[id].to {
			return id
		}
	}
	return none
}

// lie is the witness that the answer to operation id was not true, or nil.
func (s *stored) lie(id int32) *Witness {
	o := &s.ops[id]
	switch {
	case o.verb == acquire && o.outcome == history.Fail:
		if e := s.there(id, o.done); e != none {
			return s.falseNo(o, e)
		}
	case o.verb == acquire && o.outcome == history.OK:
		if pos := s.served[id]; (pos == none || pos > o.done) && s.holds[o.hold].inside == none {
			return s.falseYes(o)
		}
	case o.verb == release && o.outcome == history.OK && o.hold != none:
		if s.lease == 0 || s.end-s.at(o.done) < s.lease {
			return nil
		}
		if e := s.there(s.holds[o.hold].op, s.size()-1); e != none {
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
	return witness([]int32{o.invoke, from, o.done},
		"%s was told at %s that it did not get %s, but %s held its entry since %s, which %s.",
		s.procName(o.proc), s.when(o.done), s.lockName(o.lock),
		s.timeline.entries[from].Process, s.when(from), gone)
}

func (s *stored) falseYes(o *op) *Witness {
	return witness([]int32{o.invoke, o.done},
		"%s was told at %s that it got %s, for which it had asked at %s, and no server had granted it.",
		s.procName(o.proc), s.when(o.done), s.lockName(o.lock), s.when(o.invoke))
}

func (s *stored) falseRelease(o *op, e int32) *Witness {
	from := s.entries[e].from
	return witness([]int32{from, o.invoke, o.done},
		"%s was told at %s that it released %s, but the entry that %s made for it at %s was still there at %s.",
		s.procName(o.proc), s.when(o.done), s.lockName(o.lock),
		s.timeline.entries[from].Process, s.when(from), seconds(s.end))
}
