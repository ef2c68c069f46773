package checker

import (
	"iter"
	"slices"
	"sort"
)

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

// tells reports whether the answer of release id to the holder of h has to say whether there
// was something to release. A request without an answer may have removed the entry, for all
// that the client knew: so no fault may be in force meanwhile, but those that end a client, and
// h must not have ended before. If it shares its entries with other grants, or a replica was
// promoted, it is not clear which entry the answer is about.
func (s *stored) tells(id int32, h *hold) bool {
	o := &s.ops[id]
	return s.head.ReleaseTells && o.invoke == h.released && o.invoke == h.end && len(s.promotions) == 0 &&
		s.alone(h, o.done) && s.disturbances().after(o.invoke) >= o.done
}

// alone reports whether no other grant stands on the entries of h by pos, or is nested with it.
func (s *stored) alone(h *hold, pos int32) bool {
	nested := func(x hold) bool { return x.nest == h.nest && x.op != h.op }
	return s.shared[h.stands] > pos && !slices.ContainsFunc(s.holds, nested)
}

// nothing returns the last entry of the grant h if they had all ended before the invoke of o,
// its release, and none came until the answer; else none.
func (s *stored) nothing(o *op, h *hold) (last int32) {
	last = none
	for i, x := range s.staysOf(h.stands) {
		switch {
		case x.from > o.done:
		case x.to > o.invoke:
			return none
		case last == none || x.to > s.entries[last].to:
			last = i
		}
	}
	return last
}

// removal returns the line in which the release id removed an entry of its grant, on a
// majority of servers if there are several; else none.
func (s *stored) removal(id int32, h *hold) (pos int32) {
	o, servers := &s.ops[id], []string(nil)
	pos = none
	first := sort.Search(len(s.acts), func(i int) bool { return s.acts[i].pos > o.invoke })
	for _, a := range s.acts[first:] {
		if a.pos > o.done {
			break
		}
		if name := s.entry(a.pos).Process.Name; a.deed == removed && a.by == id && s.asked(a.made) == h.stands && !slices.Contains(servers, name) {
			pos, servers = a.pos, append(servers, name)
		}
	}
	if len(servers) < s.majority(h.stands) {
		return none
	}
	return pos
}

// granted reports whether a server had granted acquire op before pos.
func (s *stored) granted(op, pos int32) bool { return s.served[op] != none && s.served[op] < pos }

// untrue returns the witness of an untrue answer: did is the answer, but is the
// truth.
func (s *stored) untrue(o *op, entries []int32, did, but string) *Witness {
	return witness(entries, "%s was told at %s that it %s %s, %s.",
		s.procName(o.proc), s.when(o.done), did, s.lockName(o.lock), but)
}
