package checker

import "iter"

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
	took  []int32 // by release: how many entries of its grant it removed; nil: a release does not tell
}

func (t *timeline) stored() stored {
	s := stored{
		timeline: t,
		entries:  room(t.stays, len(t.acts)),
		latest:   t.scratch.zeros(len(t.ops)),
		served:   t.firstGrants(),
		back:     t.scratch.zeros(len(t.ops)),
		shared:   t.scratch.zeros(len(t.ops)),
	}
	t.stays = s.entries // at most one for each act
	for i := range s.latest {
		s.latest[i], s.shared[i] = none, t.size()
	}
	for i := range t.holds {
		s.stand(&t.holds[i])
	}
	if t.head.ReleaseTells {
		s.took = t.scratch.zeros(len(t.ops))
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
	case removed:
		s.leave(a)
		s.release(a)
	case expired, lost:
		s.leave(a)
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

// release notes that a release removed an entry of its own grant.
func (s *stored) release(a *act) {
	if s.took == nil || a.by == none || s.ops[a.by].verb != release {
		return
	}
	if h := s.ops[a.by].hold; h != none && s.holds[h].stands == s.asked(a.made) {
		s.took[a.by]++
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

// nothing returns the last entry of the grant h if release id, its first, can have found
// none: the entries had all ended before its invoke, and none came until its answer. Else
// it returns none. So it does if a fault was in force meanwhile: a request without an answer
// may have removed the entry, for all that the client knew.
func (s *stored) nothing(id int32, h *hold) (last int32) {
	o := &s.ops[id]
	if last = none; o.invoke != h.released || s.took[id] > 0 {
		return none
	}
	for i, x := range s.staysOf(h.stands) {
		switch {
		case x.from > o.done:
		case x.to > o.invoke:
			return none
		case last == none || x.to > s.entries[last].to:
			last = i
		}
	}
	if last != none && s.disturbances().after(o.invoke) < o.done {
		return none
	}
	return last
}

// granted reports whether a server had granted acquire op before pos.
func (s *stored) granted(op, pos int32) bool { return s.served[op] != none && s.served[op] < pos }

// untrue returns the witness of an untrue answer: did is the answer, but is the
// truth.
func (s *stored) untrue(o *op, entries []int32, did, but string) *Witness {
	return witness(entries, "%s was told at %s that it %s %s, %s.",
		s.procName(o.proc), s.when(o.done), did, s.lockName(o.lock), but)
}
