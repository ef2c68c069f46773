package models

import (
	"cmp"
	"slices"
)

// token compares the token of hold i with those before it.
func (s *sweep) token(i int32) finding {
	h := &s.holds[i]
	if !s.rule.tokens {
		return legal
	}
	nested := len(s.active) > 0
	if !nested {
		s.nest = 0
	}
	if h.token == 0 {
		return legal
	}
	if nested && s.nest != 0 {
		if h.token == s.nest {
			return legal
		}
		outer := s.nestBy
		o := &s.holds[outer]
		facts := []fact{holdFact(outer, o), acquireFact(i, h)}
		over := o.end < h.ret // but another hold of the nest lasted longer
		if over && h.token < o.token {
			return s.falls(i) // whether or not the nest lasted
		}
		if over {
			first := slices.MinFunc(s.active, func(a, b int32) int { return cmp.Compare(s.holds[a].ret, s.holds[b].ret) })
			facts = append(facts, holdFact(first, &s.holds[first]))
		}
		return violation(facts, "%s was granted %s in line %d with token %d, and again, before it had let go of all that it had, in line %d with token %d.",
			s.who(h.proc), s.named(h.lock), s.lines.of(o.ret), o.token, s.lines.of(h.ret), h.token)
	}
	if s.any && s.holds[s.highest].token >= h.token {
		return s.falls(i)
	}
	s.nest, s.nestBy, s.highest, s.any = h.token, i, i, true
	return legal
}

// falls returns the violation that the token of hold i is not above the highest so
// far.
func (s *sweep) falls(i int32) finding {
	h, o := &s.holds[i], &s.holds[s.highest]
	return violation(append(s.between(s.highest, i), acquireFact(s.highest, o), acquireFact(i, h)),
		"%s was granted %s in line %d with token %d, and %s after that, in line %d, with token %d.",
		s.who(o.proc), s.named(h.lock), s.lines.of(o.ret), o.token, s.who(h.proc), s.lines.of(h.ret), h.token)
}

// between returns facts that show that hold i does not rest on hold k: another client
// held meanwhile, or its process had ended all its holds.
func (s *sweep) between(k, i int32) (facts []fact) {
	if !s.rule.reentrant || s.holds[k].owner != s.holds[i].owner || s.holds[k].token != s.holds[i].token {
		return nil
	}
	over := s.holds[k].gone // when all holds on the same grant have ended
	for _, n := range s.order {
		h := &s.holds[n]
		same, before := h.owner == s.holds[i].owner, h.ret < s.holds[k].ret && h.end <= s.holds[k].ret
		switch {
		case h.ret >= s.holds[i].ret || same && h.call > over && h.ret > s.holds[k].ret:
			return facts
		case !same && (h.momentary() || before), before && h.gone <= s.holds[k].ret:
		case !same:
			return []fact{acquireFact(n, h)}
		case h.gone != never: // also a momentary one: all have to be over at one time
			over = max(over, h.gone)
			facts = append(facts, fact{opID{releaseOp, n}, []int32{h.ret, h.gone}})
		}
	}
	return facts
}

// mayBeNested reports whether the owner of hold i may have held all the time since an
// earlier hold: a release has no answer, or another process of the client did it, or
// an acquire has no answer, or was confirmed only later. Holds that are certain may be
// nested in such a hold.
func (s *sweep) mayBeNested(i int32) bool {
	if !s.rule.reentrant {
		return false
	}
	for x := &s.holds[i]; x != nil; {
		var outer *hold // the first that x is nested in
		for k := range s.holds {
			h := &s.holds[k]
			switch {
			case h.owner != x.owner || h.void || h.call >= x.ret || h.gone <= x.call || h.ret == x.ret:
			case h.ret > x.ret || h.end != never || h.late:
				return true
			case outer == nil || h.ret < outer.ret:
				outer = h
			}
		}
		x = outer
	}
	return false
}

// turn checks whether hold i was overtaken in the queue.
func (s *sweep) turn(i int32) finding {
	h := &s.holds[i]
	if !s.rule.fifo {
		return legal
	}
	if s.asked && h.queued != none && s.holds[s.late].call > h.queued {
		o := &s.holds[s.late]
		return violation([]fact{
			{opID{acquireOp, s.late}, []int32{o.call, o.ret}},
			{opID{acquireOp, i}, []int32{h.queued, h.ret}},
			{opID{queueOp, i}, nil},
		},
			"%s had a place in the queue in line %d, before %s asked in line %d, but %s was granted %s first (lines %d and %d).",
			s.who(h.proc), s.lines.of(h.queued), s.who(o.proc), s.lines.of(o.call), s.who(o.proc), s.named(h.lock), s.lines.of(o.ret), s.lines.of(h.ret))
	}
	if !s.asked || s.holds[s.late].call < h.call {
		s.late, s.asked = i, true
	}
	return legal
}
