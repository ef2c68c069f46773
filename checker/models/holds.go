package models

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/checker"
)

// judgeHolds judges the holds of one lock by the model's rule.
func (o *object) judgeHolds() finding {
	holds := o.holds
	if f := o.judgeStrays(); f.outcome == checker.Violated {
		return f
	}
	s := sweep{object: o, rule: o.model.rule, limit: o.model.N, lastFree: none, lastHalf: none}
	s.order = make([]int32, 0, len(holds))
	sorted, certain := true, true
	for i := range holds {
		h := &holds[i]
		if !h.presupposed() {
			certain = certain && h.void
			continue
		}
		if n := len(s.order); n > 0 && holds[s.order[n-1]].ret > h.ret {
			sorted = false
		}
		s.order = append(s.order, int32(i))
		s.momentary = s.momentary || h.momentary()
		s.vague = s.vague || h.momentary() && (s.rule.fifo || s.rule.tokens && h.token != 0 || h.joint != 0)
	}
	if !sorted { // acquires that were confirmed later
		slices.SortFunc(s.order, func(a, b int32) int { return cmp.Compare(holds[a].ret, holds[b].ret) })
	}
	for _, i := range s.order {
		if f := s.begin(i); f.outcome != checker.Valid {
			return f
		}
	}
	if s.vague {
		return undecided("an acquire without an answer may have had its turn at several moments")
	}
	if o.loose() {
		return undecided("it is not certain " + o.locks[o.lock].doubt)
	}
	if len(o.refused) > 0 {
		if s.momentary { // its instant may conflict with a hold that would have to be longer
			return undecided("a try was refused, and a hold may have had its moment at several moments")
		}
		return s.refusals(o.refused, certain)
	}
	return legal
}

// judgeStrays looks for operations that were ok although their client held no lock.
func (o *object) judgeStrays() finding {
	holds := o.holds
	for i, s := range o.strays {
		this := fact{opID{strayOp, int32(i)}, []int32{s.call, s.ret}}
		switch {
		case s.doubt == loose:
		case s.release:
			return o.without(this, &s, "released")
		case s.hold == none:
			return o.without(this, &s, "extended")
		default:
			over := fact{opID{releaseOp, s.hold}, []int32{holds[s.hold].ret, holds[s.hold].gone}}
			return violation([]fact{over, this}, "%s extended %s (line %d) after it had released it (line %d).",
				o.who(s.proc), o.named(o.lock), o.lines.of(s.ret), o.lines.of(holds[s.hold].gone))
		}
	}
	return legal
}

// without returns the violation that s was ok for a client that held no lock. It
// names the line where the client's last hold had ended, or where the hold that s
// names had ended.
func (o *object) without(this fact, s *stray, did string) finding {
	f := violation([]fact{this}, "%s %s %s (line %d), and ", o.who(s.proc), did, o.named(o.lock), o.lines.of(s.ret))
	over, ever := s.over, s.over != none
	for i := range o.holds {
		h := &o.holds[i]
		if s.over != none || h.void || h.call > s.ret || o.procs[h.proc].client != o.procs[s.proc].client {
			continue
		}
		ever = true
		end := h.gone
		if end == never { // it was lost, or its client died
			end = h.end
		}
		if h.presupposed() && end <= s.call {
			over = max(over, end)
		}
	}
	switch {
	case over != none:
		f.sentence += fmt.Sprintf("did not hold it: its hold had ended in line %d.", o.lines.of(over))
		f.shown = []int32{over}
	case ever:
		f.sentence += "did not hold it."
	default:
		f.sentence += "had never held it."
	}
	return f
}

// begin processes the start of hold i.
func (s *sweep) begin(i int32) finding {
	h := &s.holds[i]
	s.end(h.ret)
	if s.momentary {
		s.remember(h.ret)
	}
	blockers := s.blockers(h)
	if h.momentary() {
		if blockers != nil && !s.hadRoom(h) {
			return s.noRoom(i)
		}
		return legal
	}
	if blockers != nil && !(s.rule.reentrant && s.rule.tokens && s.holds[blockers[0]].owner == h.owner) {
		return s.together(i, blockers)
	}
	if f := s.token(i); f.outcome == checker.Violated {
		if s.mayBeNested(i) {
			return undecided("it is not certain whether a grant was one more of those before it")
		}
		return f
	}
	if blockers != nil {
		return s.together(i, blockers)
	}
	if f := s.turn(i); f.outcome == checker.Violated {
		return f
	}
	at := sort.Search(len(s.active), func(k int) bool { return s.holds[s.active[k]].end < h.end })
	s.active = slices.Insert(s.active, at, i)
	if !h.shared {
		s.writer++
	}
	return legal
}

// refusals looks, for each refused try, for an instant at which another client held.
// forced: no indeterminate acquire could have held there.
func (s *sweep) refusals(refused []refusal, forced bool) finding {
	r := s.rule
	if r.reentrant || r.shared || r.permits {
		return undecided("tries were refused")
	}
	for k, x := range refused {
		// The first hold that certainly began after the refused try was invoked.
		next := sort.Search(len(s.order), func(n int) bool { return s.holds[s.order[n]].ret > x.call })
		if next > 0 && s.holds[s.order[next-1]].gone > x.call {
			continue // the one before it may have lasted until then
		}
		if next < len(s.order) && s.holds[s.order[next]].call < x.ret {
			continue // it may have begun early enough
		}
		if !forced {
			return undecided("a try was refused, and an indeterminate acquire may be why")
		}
		facts := []fact{{opID{refusedOp, int32(k)}, []int32{x.call, x.ret}}}
		if next > 0 {
			facts = append(facts, fact{opID{releaseOp, s.order[next-1]}, []int32{s.holds[s.order[next-1]].gone}})
		}
		if next < len(s.order) {
			facts = append(facts, fact{opID{acquireOp, s.order[next]}, []int32{s.holds[s.order[next]].call}})
		}
		f := violation(facts, "%s was refused %s (lines %d to %d) when nobody can have held it.",
			s.who(x.proc), s.named(s.lock), s.lines.of(x.call), s.lines.of(x.ret))
		f.absence = true
		return f
	}
	return legal
}
