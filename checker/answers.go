package checker

import (
	"fmt"
	"iter"

	"github.com/lockcheck/lockcheck/history"
)

// answers checks that the lock's replies were true:
//   - An acquire or try that failed had left no entry of its own when it failed.
//   - An acquire that was ok had been granted by a server: its request made an entry,
//     took one over, or prolonged one as its owner. A nested acquire may rest on the
//     entry that its process has already. A grant may stand on the entries of another
//     acquire of its client, if its ok names that acquire.
//   - After a release that was ok the grant's entries are gone, or a request removes
//     them later, no matter whose (see outstays and kept).
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
		if w := s.lie(int32(i)); w != nil && !t.posthumous(t.clientOf(int32(i)), o.done) {
			first, at = w, o.done
		}
	}
	if first != nil {
		return violated(Answers, first)
	}
	return valid(Answers)
}

// stored is the entries in the stores, with their times.
type stored struct {
	*timeline
	entries []stay
	latest  []int32 // by operation: the last entry that its acquire made, or none
	served  []int32 // by operation: the first act of a server that justifies its ok, or none
	back    []int32 // by acquire: where all grants on its entries had been released with an ok; else the size
	shared  []int32 // by acquire: where another grant first stood on its entries; else the size
	// blind is how many entries each release removed on replaced servers: the
	// server's reply was true for its own copies.
	blind map[int32]int
}

func (t *timeline) stored() stored {
	s := stored{
		timeline: t,
		entries:  room(t.stays, len(t.acts)),
		latest:   t.scratch.zeros(len(t.ops)),
		served:   t.scratch.zeros(len(t.ops)),
		back:     t.scratch.zeros(len(t.ops)),
		shared:   t.scratch.zeros(len(t.ops)),
	}
	t.stays = s.entries // at most one for each act
	for i := range s.latest {
		s.latest[i], s.served[i], s.shared[i] = none, none, t.size()
	}
	for i := range t.holds {
		s.stand(&t.holds[i])
	}
	promotions := t.promotions
	for i := range t.acts {
		a := &t.acts[i]
		for len(promotions) > 0 && promotions[0] < a.pos {
			s.succeed(promotions[0])
			promotions = promotions[1:]
		}
		s.take(a)
	}
	return s
}

// stand notes which acquire's entries a hold stands on.
func (s *stored) stand(h *hold) {
	gave := h.gave
	if gave == none {
		gave = s.size()
	}
	s.back[h.stands] = max(s.back[h.stands], gave)
	if h.guest() {
		s.shared[h.stands] = min(s.shared[h.stands], h.begin)
	}
}

// succeed notes that the server of the line at pos replaced another one as the
// master: it has the other's entries, unless it reports them as lost.
func (s *stored) succeed(pos int32) {
	old := s.entry(pos).Text
	for i := range s.entries {
		if e := &s.entries[i]; e.to == s.size() && s.entry(e.at).Process.Name == old {
			e.at = pos
		}
	}
}

// replaced reports whether another server has replaced the server of the line at pos
// as the master. From then on its lines are only about its own copies, which do not
// count.
func (s *stored) replaced(pos int32) bool {
	server := s.entry(pos).Process.Name
	for i := len(s.promotions) - 1; i >= 0; i-- {
		p := s.promotions[i]
		switch e := s.entry(p); {
		case p > pos:
		case e.Process.Name == server:
			return false
		case e.Text == server:
			return true
		}
	}
	return false
}

func (s *stored) take(a *act) {
	switch a.deed {
	case granted:
		s.put(a.made, a.pos)
	case takenOver:
		s.leave(a)
		if a.by != a.made {
			s.put(a.by, a.pos)
		}
	case removed, expired, lost:
		s.leave(a)
	}
	s.serve(a.grants(), a.pos)
}

func (s *stored) serve(op, pos int32) {
	if op != none && s.served[op] == none {
		s.served[op] = pos
	}
}

// put adds an entry that operation op made for its grant, unless it is there already:
// a request that recognises its own entry grants it again.
func (s *stored) put(op, pos int32) {
	op = s.asked(op)
	if op == none || s.find(op, pos, true) != none {
		return
	}
	s.entries = append(s.entries, stay{from: pos, to: s.size(), at: pos, before: s.latest[op]})
	s.latest[op] = int32(len(s.entries)) - 1
}

func (s *stored) leave(a *act) {
	made := s.asked(a.made)
	if made == none {
		return
	}
	id := s.find(made, a.pos, true)
	if id == none {
		if s.replaced(a.pos) {
			s.remove(a)
			return
		}
		id = s.find(made, a.pos, false)
	}
	if id != none {
		s.entries[id].to, s.entries[id].how = a.pos, a.deed
	}
}

// remove notes that a request removed an entry on a replaced server.
func (s *stored) remove(a *act) {
	if a.deed == removed && a.by != none {
		if s.blind == nil {
			s.blind = map[int32]int{}
		}
		s.blind[a.by]++
	}
}

// staysOf returns the entries of acquire op, the last one first.
func (s *stored) staysOf(op int32) iter.Seq2[int32, *stay] {
	return func(yield func(int32, *stay) bool) {
		for id := s.latest[op]; id != none && yield(id, &s.entries[id]); {
			id = s.entries[id].before
		}
	}
}

// find returns the entry of acquire op that the line at pos is about: the one with
// its key, and also with its server if exact. A server may have replaced another
// without a line that shows it. Its lines are then about entries that the other made.
func (s *stored) find(op, pos int32, exact bool) int32 {
	e := s.entry(pos)
	for id, x := range s.staysOf(op) {
		if x.to == s.size() && s.entry(x.from).Key == e.Key && (!exact || s.entry(x.at).Process.Name == e.Process.Name) {
			return id
		}
	}
	return none
}

// there returns an entry of acquire op that is in a store at pos, or none.
func (s *stored) there(op, pos int32) int32 {
	for id, x := range s.staysOf(op) {
		if x.from < pos && pos < x.to {
			return id
		}
	}
	return none
}

// had does the same as there, and reports whether op had an entry before pos.
func (s *stored) had(op, pos int32) (id int32, was bool) {
	for _, x := range s.staysOf(op) {
		was = was || x.from < pos
	}
	return s.there(op, pos), was
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
	case o.verb == release && o.outcome == history.OK && o.hold != none:
		made := s.holds[o.hold].stands
		if o.done < s.back[made] {
			return nil
		}
		if e := s.outstays(id, made); e != none {
			return s.falseRelease(o, e)
		}
		if e := s.kept(made, o.done); e != none {
			return s.falseRelease(o, e)
		}
	}
	return nil
}

// granted reports whether a server had granted acquire op before pos.
func (s *stored) granted(op, pos int32) bool { return s.served[op] != none && s.served[op] < pos }

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

// untrue returns the witness of an untrue answer: did is the answer, but is the
// truth.
func (s *stored) untrue(o *op, entries []int32, did, but string) *Witness {
	return witness(entries, "%s was told at %s that it %s %s, %s.",
		s.procName(o.proc), s.when(o.done), did, s.lockName(o.lock), but)
}
