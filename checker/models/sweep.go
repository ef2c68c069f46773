package models

import (
	"cmp"
	"slices"
)

// sweep goes over holds in the order of their starts, each in its shortest form: from
// the completion of its acquire to the invoke of its release.
type sweep struct {
	*object
	rule  rule
	limit int
	order []int32

	active []int32 // present holds, the one that ends last first
	writer int     // number of those that are not shared

	nest    uint64 // token of the grant that the active ones rest on
	nestBy  int32  // the hold with that token
	highest int32  // the hold with the largest token so far
	any     bool   // highest is set
	late    int32  // of the holds so far, the one whose acquire was invoked last
	asked   bool   // late is set

	momentary bool            // there are momentary holds
	vague     bool            // the instant of one of them makes a difference
	lastFree  int32           // the last start before which no client held
	lastHalf  int32           // the last start before which only readers held
	lastOnly  map[int32]int32 // by owner: the last start with only its holds, below the limit
}

// end removes the holds that ended by pos. A lease may end in the very line of
// another grant.
func (s *sweep) end(pos int32) {
	n := len(s.active)
	for n > 0 && s.holds[s.active[n-1]].end <= pos {
		n--
		if !s.holds[s.active[n]].shared {
			s.writer--
		}
	}
	s.active = s.active[:n]
}

// blockers returns the active holds that exclude h, or nil without any.
func (s *sweep) blockers(h *hold) []int32 {
	switch {
	case len(s.active) == 0:
		return nil
	case s.rule.permits:
		if len(s.active) < s.limit {
			return nil
		}
		return s.active
	case s.rule.shared && h.shared:
		if s.writer == 0 {
			return nil
		}
		for _, a := range s.active {
			if !s.holds[a].shared {
				return []int32{a}
			}
		}
	case s.rule.reentrant && s.holds[s.active[0]].owner == h.owner:
		if s.limit == 0 || len(s.active) < s.limit {
			return nil
		}
		return s.active
	}
	return s.active[:1]
}

// remember notes which clients could have held just before pos.
func (s *sweep) remember(pos int32) {
	if len(s.active) == 0 {
		s.lastFree = pos
	}
	if s.writer == 0 {
		s.lastHalf = pos
	}
	switch {
	case s.rule.permits && len(s.active) < s.limit:
		s.lastFree = pos
	case s.rule.reentrant && len(s.active) > 0 && (s.limit == 0 || len(s.active) < s.limit):
		if s.lastOnly == nil {
			s.lastOnly = map[int32]int32{}
		}
		s.lastOnly[s.holds[s.active[0]].owner] = pos
	}
}

// hadRoom reports whether there was an earlier instant for a momentary hold.
func (s *sweep) hadRoom(h *hold) bool {
	from := max(h.call, h.end)
	only, own := s.lastOnly[h.owner]
	// A lease may end and another grant begin in one line.
	return s.lastFree >= from ||
		s.rule.shared && h.shared && s.lastHalf >= from ||
		own && only >= from
}

// together returns the violation that hold i began while the others lasted.
func (s *sweep) together(i int32, blockers []int32) finding {
	h := &s.holds[i]
	facts := []fact{acquireFact(i, h)}
	for _, b := range blockers {
		facts = append(facts, holdFact(b, &s.holds[b]))
	}
	who, lock := s.who(h.proc), s.named(h.lock)
	switch limit := s.limit; {
	case s.rule.permits && limit > 1:
		return violation(facts, "all %d permits of %s were held when %s was granted one more (line %d).", limit, lock, who, s.lines.of(h.ret))
	case len(blockers) > 1:
		return violation(facts, "%s held %s %d times, which is the limit, and was granted it once more (line %d).", who, lock, limit, s.lines.of(h.ret))
	}
	b := &s.holds[blockers[0]]
	if b.owner == h.owner {
		return violation(facts, "%s %s, and was granted it again (line %d).", who, s.heldFrom(b), s.lines.of(h.ret))
	}
	return violation(facts, "%s %s, and %s was granted it in line %d.", s.who(b.proc), s.heldFrom(b), who, s.lines.of(h.ret))
}

// noRoom returns the violation that there was no instant for hold i.
func (s *sweep) noRoom(i int32) finding {
	h := &s.holds[i]
	from := max(h.call, h.end)
	var others []int32 // holds that lasted at some time between from and h.ret
	for _, n := range s.order {
		if o := &s.holds[n]; n != i && !o.momentary() && o.ret < h.ret && o.end > from {
			others = append(others, n)
		}
	}
	// Add the longest holds until there is no room, then drop those that are not
	// needed.
	length := func(n int32) int32 { return min(s.holds[n].end, h.ret) - max(s.holds[n].ret, from) }
	slices.SortFunc(others, func(a, b int32) int { return cmp.Compare(length(b), length(a)) })
	for k := range others {
		if !s.room(h, from, others[:k+1]) {
			others = others[:k+1]
			break
		}
		if k > 200 {
			break
		}
	}
	for k := len(others) - 1; k >= 0 && len(others) < 200; k-- {
		if fewer := slices.Delete(slices.Clone(others), k, k+1); !s.room(h, from, fewer) {
			others = fewer
		}
	}
	slices.Sort(others)
	facts := []fact{acquireFact(i, h), {opID{releaseOp, i}, []int32{h.end}}}
	var said []string
	for _, n := range others {
		facts = append(facts, holdFact(n, &s.holds[n]))
		said = append(said, s.who(s.holds[n].proc)+" "+s.heldFrom(&s.holds[n]))
	}
	return violation(facts, "%s had %s at some moment from line %d to line %d, but %s.",
		s.who(h.proc), s.named(h.lock), s.lines.of(from), s.lines.of(h.ret), list(said))
}

// room reports whether there is an instant between from and the start of h at which h
// could have been held beside the others.
func (s *sweep) room(h *hold, from int32, others []int32) bool {
	instants := []int32{from - 1, from} // just after each of them
	for _, n := range others {
		if end := s.holds[n].end; end > from && end < h.ret {
			instants = append(instants, end)
		}
	}
	for _, at := range instants {
		now := sweep{object: s.object, rule: s.rule, limit: s.limit}
		for _, n := range others {
			if o := &s.holds[n]; o.ret <= at && at < o.end {
				now.active = append(now.active, n)
				if !o.shared {
					now.writer++
				}
			}
		}
		if now.blockers(h) == nil {
			return true
		}
	}
	return false
}
