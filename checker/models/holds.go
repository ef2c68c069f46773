package models

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/checker"
)

// finding is a judge's result for one lock.
type finding struct {
	outcome  checker.Outcome // Unknown: another judge has to decide
	reason   string
	sentence string
	facts    []fact
	limited  bool    // of Unknown: time or memory ran out
	shown    []int32 // positions that the sentence names, besides the facts
	absence  bool    // the violation depends on the absence of other operations
	open     bool    // impossible from any state before the first fact
	whole    bool    // including all operations possible since the start
	start    state   // the state in which the facts are impossible
}

var legal = finding{outcome: checker.Valid}

func undecided(reason string) finding { return finding{outcome: checker.Unknown, reason: reason} }

// fact is a part of a witness: an operation, and the positions that show it.
type fact struct {
	op opID
	at []int32
}

func violation(facts []fact, format string, args ...any) finding {
	return finding{outcome: checker.Violated, facts: facts, sentence: fmt.Sprintf(format, args...)}
}

// holdFact is the fact that hold i lasted.
func holdFact(i int32, h *hold) fact {
	if h.end == never {
		return fact{opID{acquireOp, i}, []int32{h.ret}}
	}
	return fact{opID{acquireOp, i}, []int32{h.ret, h.end}}
}

// acquireFact is the fact that hold i was granted.
func acquireFact(i int32, h *hold) fact { return fact{opID{acquireOp, i}, []int32{h.ret}} }

// momentary reports whether h may have lasted for an instant only: its release may
// have come before its acquire was certain.
func (h *hold) momentary() bool { return h.end <= h.ret }

// judgeHolds judges the holds of one lock by the model's rule.
func (o *object) judgeHolds() finding {
	j, l, holds := o.j, o.lock, o.holds
	if f := o.judgeStrays(); f.outcome == checker.Violated {
		return f
	}
	s := sweep{j: j, rule: j.model.rule, limit: j.model.N, lock: l, holds: holds, lastFree: none, lastHalf: none}
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
		s.vague = s.vague || h.momentary() && (s.rule.fifo || s.rule.tokens && h.token != 0)
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
		return undecided("it is not certain " + o.j.locks[o.lock].doubt)
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
	j, l, holds := o.j, o.lock, o.holds
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
				j.who(s.proc), j.named(l), j.lines.of(s.ret), j.lines.of(holds[s.hold].gone))
		}
	}
	return legal
}

// without returns the violation that s was ok for a client that held no lock. It
// names the line where the client's last hold had ended, or where the hold that s
// names had ended.
func (o *object) without(this fact, s *stray, did string) finding {
	j := o.j
	f := violation([]fact{this}, "%s %s %s (line %d), and ", j.who(s.proc), did, j.named(o.lock), j.lines.of(s.ret))
	over, ever := s.over, s.over != none
	for i := range o.holds {
		h := &o.holds[i]
		if s.over != none || h.void || h.call > s.ret || j.procs[h.proc].client != j.procs[s.proc].client {
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
		f.sentence += fmt.Sprintf("did not hold it: its hold had ended in line %d.", j.lines.of(over))
		f.shown = []int32{over}
	case ever:
		f.sentence += "did not hold it."
	default:
		f.sentence += "had never held it."
	}
	return f
}

// sweep goes over holds in the order of their starts, each in its shortest form: from
// the completion of its acquire to the invoke of its release.
type sweep struct {
	j     *Judge
	rule  rule
	limit int
	lock  int32
	holds []hold
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
	// A lease may end and another grant begin in one line.
	return s.lastFree >= from ||
		s.rule.shared && h.shared && s.lastHalf >= from ||
		s.onlyOwn(h.owner) >= from
}

// onlyOwn returns the last start before which only an owner held, or none.
func (s *sweep) onlyOwn(owner int32) int32 {
	if pos, ok := s.lastOnly[owner]; ok {
		return pos
	}
	return none
}

// together returns the violation that hold i began while the others lasted.
func (s *sweep) together(i int32, blockers []int32) finding {
	h, j := &s.holds[i], s.j
	facts := []fact{acquireFact(i, h)}
	for _, b := range blockers {
		facts = append(facts, holdFact(b, &s.holds[b]))
	}
	who, lock := j.who(h.proc), j.named(h.lock)
	switch limit := s.limit; {
	case s.rule.permits && limit > 1:
		return violation(facts, "all %d permits of %s were held when %s was granted one more (line %d).", limit, lock, who, j.lines.of(h.ret))
	case len(blockers) > 1:
		return violation(facts, "%s held %s %d times, which is the limit, and was granted it once more (line %d).", who, lock, limit, j.lines.of(h.ret))
	}
	b := &s.holds[blockers[0]]
	if b.owner == h.owner {
		return violation(facts, "%s %s, and was granted it again (line %d).", who, j.heldFrom(b), j.lines.of(h.ret))
	}
	return violation(facts, "%s %s, and %s was granted it in line %d.", j.who(b.proc), j.heldFrom(b), who, j.lines.of(h.ret))
}

// noRoom returns the violation that there was no instant for hold i.
func (s *sweep) noRoom(i int32) finding {
	h, j := &s.holds[i], s.j
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
		said = append(said, j.who(s.holds[n].proc)+" "+j.heldFrom(&s.holds[n]))
	}
	return violation(facts, "%s had %s at some moment from line %d to line %d, but %s.",
		j.who(h.proc), j.named(h.lock), j.lines.of(from), j.lines.of(h.ret), list(said))
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
		now := sweep{rule: s.rule, limit: s.limit, holds: s.holds}
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

// token compares the token of hold i with those before it.
func (s *sweep) token(i int32) finding {
	h, j := &s.holds[i], s.j
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
			j.who(h.proc), j.named(h.lock), j.lines.of(o.ret), o.token, j.lines.of(h.ret), h.token)
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
	h, o, j := &s.holds[i], &s.holds[s.highest], s.j
	return violation(append(s.between(s.highest, i), acquireFact(s.highest, o), acquireFact(i, h)),
		"%s was granted %s in line %d with token %d, and %s after that, in line %d, with token %d.",
		j.who(o.proc), j.named(h.lock), j.lines.of(o.ret), o.token, j.who(h.proc), j.lines.of(h.ret), h.token)
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
// an acquire has no answer.
func (s *sweep) mayBeNested(i int32) bool {
	x := &s.holds[i]
	return s.rule.reentrant && slices.ContainsFunc(s.holds, func(h hold) bool {
		return h.owner == x.owner && !h.void && h.call < x.ret &&
			(!h.presupposed() || h.ret < x.ret && h.end != never && h.gone > x.call)
	})
}

// turn checks whether hold i was overtaken in the queue.
func (s *sweep) turn(i int32) finding {
	h, j := &s.holds[i], s.j
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
			j.who(h.proc), j.lines.of(h.queued), j.who(o.proc), j.lines.of(o.call), j.who(o.proc), j.named(h.lock), j.lines.of(o.ret), j.lines.of(h.ret))
	}
	if !s.asked || s.holds[s.late].call < h.call {
		s.late, s.asked = i, true
	}
	return legal
}

// refusals looks, for each refused try, for an instant at which another client held.
// forced: no indeterminate acquire could have held there.
func (s *sweep) refusals(refused []refusal, forced bool) finding {
	r, j := s.rule, s.j
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
			j.who(x.proc), j.named(s.lock), j.lines.of(x.call), j.lines.of(x.ret))
		f.absence = true
		return f
	}
	return legal
}
