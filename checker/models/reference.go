package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// opKind is the kind of an operation for Porcupine.
type opKind uint8

const (
	acquireOp opKind = iota
	releaseOp
	queueOp // takes a place in the queue
	strayOp
	refusedOp
	eventOp  // an acquire or release of a mutex without owners
	accessOp // to a register
	lossOp   // loss of the entry that a process's holds rest on
	endOp    // after all certain operations
)

// opID names an operation of one lock by its index in the list of its kind.
type opID struct {
	kind opKind
	n    int32
}

// operation is an operation as Porcupine sees it. An optional one may take effect at
// any time after its call, or never.
type operation struct {
	opID
	call, ret int32
	proc      int32
	optional  bool
}

// object is one lock with all its operations, as both judges see it.
type object struct {
	j        *Judge
	lock     int32
	holds    []hold
	strays   []stray
	refused  []refusal
	events   []event
	accesses []access
}

// start returns the state of the object before the history.
func (o *object) start() state {
	return state{value: o.j.model.First.V, known: o.j.model.First.Set}
}

// operations lists those that may take effect between two positions.
func (o *object) operations(from, to int32) []operation {
	var list []operation
	var losses []int32
	maybe := o.loose() || len(o.refused) > 0 // an indeterminate acquire may be needed
	add := func(kind opKind, n int, call, ret, proc int32, optional bool) {
		if call <= to && ret >= from {
			list = append(list, operation{opID{kind, int32(n)}, call, ret, proc, optional})
		}
	}
	for i := range o.holds {
		h := &o.holds[i]
		if h.call > to || h.gone < from || h.void {
			continue
		}
		if o.j.model.rule.fifo && h.ret >= from && (h.presupposed() || maybe) {
			in := h.ret
			if h.queued != none && h.presupposed() {
				in = h.queued
			}
			list = append(list, operation{opID{queueOp, int32(i)}, h.call, in, h.proc, !h.presupposed()})
		}
		add(acquireOp, i, h.call, h.ret, h.proc, !h.presupposed())
		switch {
		case h.joint == 0 && h.end != never:
			add(releaseOp, i, h.end, h.gone, h.proc, h.gone == never)
		case h.joint != 0:
			if h.alone != never {
				add(releaseOp, i, h.alone, h.gone, h.proc, h.gone == never)
			}
			if l := h.joint - 1; !slices.Contains(losses, l) {
				losses = append(losses, l)
				add(lossOp, int(l), o.j.losses[l].pos, never, h.proc, true)
			}
		}
	}
	for i, s := range o.strays {
		add(strayOp, i, s.call, s.ret, s.proc, false)
	}
	for i, r := range o.refused {
		add(refusedOp, i, r.call, r.ret, r.proc, false)
	}
	for i, e := range o.events {
		add(eventOp, i, e.call, e.ret, e.proc, e.ret == never)
	}
	for i := range o.accesses {
		a := &o.accesses[i]
		if a.call != atFirst { // atFirst is the state that o.start returns
			add(accessOp, i, a.call, a.ret, a.proc, a.ret == never)
		}
	}
	return list
}

// input is an operation as Porcupine's model gets it.
type input struct {
	opID
	optional bool
}

// history returns Porcupine's operations, with one more after all certain ones: an
// optional operation that has not had its turn by then is left out.
func (o *object) history(list []operation) []porcupine.Operation {
	end := int64(o.j.size) + 1
	var ops []porcupine.Operation
	for _, x := range list {
		p := porcupine.Operation{ClientId: int(x.proc), Input: input{x.opID, x.optional}, Call: int64(x.call), Return: int64(x.ret)}
		if x.optional {
			p.Return = end + 2
		}
		ops = append(ops, p)
	}
	return append(ops, porcupine.Operation{ClientId: len(o.j.procs), Input: input{opID: opID{kind: endOp}}, Call: end, Return: end + 1})
}

// state is the state of an object, for all models.
type state struct {
	held    string // holds, four bytes each, in the order in which they were granted; of a mutex without owners: the one that a loss or a death can end
	over    string // holds that were released, if there are loose operations; of a mutex without owners: events that may be confirmed
	spent   string // holds that a loose release was about
	queue   string // of holds, likewise
	locked  bool   // of a mutex without owners
	nest    uint64 // token of the grant that the present holds rest on
	highest uint64 // token
	value   int64
	known   bool // the value
	ended   bool // only optional operations remain
}

// Packed lists of holds are strings, so that states can be compared.
func pack(list string, n int32) string {
	return list + string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func unpack(list string) (ns []int32) {
	for i := 0; i+4 <= len(list); i += 4 {
		ns = append(ns, int32(list[i])<<24|int32(list[i+1])<<16|int32(list[i+2])<<8|int32(list[i+3]))
	}
	return ns
}

func without(list string, n int32) (string, bool) {
	one := pack("", n)
	for i := 0; i+4 <= len(list); i += 4 {
		if list[i:i+4] == one {
			return list[:i] + list[i+4:], true
		}
	}
	return list, false
}

// spec returns the model for Porcupine: what the object allows, one operation after
// the other, exactly by its rules.
func (o *object) spec(start state) porcupine.Model {
	m := porcupine.Model{
		Init: func() any { return start },
		Step: func(s, in, _ any) (bool, any) {
			old, x := s.(state), in.(input)
			if x.kind == endOp {
				old.ended = true
				return true, old
			}
			if old.ended {
				return x.optional, old
			}
			next := old
			if !o.step(&next, x) {
				return false, old
			}
			return true, next
		},
		DescribeOperation: func(in, _ any) string { return o.describe(in.(input)) },
		DescribeState:     func(s any) string { return o.describeState(s.(state)) },
	}
	if !o.loose() && !slices.ContainsFunc(o.events, event.confirms) {
		return m
	}
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{start} },
		Step: func(s, in, _ any) []any {
			switch x := in.(input); {
			case s.(state).ended:
			case x.kind == strayOp && o.strays[x.n].doubt == loose:
				return o.choices(s.(state), &o.strays[x.n])
			case x.kind == eventOp && o.events[x.n].confirms():
				return o.releases(s.(state), &o.events[x.n])
			}
			ok, next := m.Step(s, in, nil)
			if !ok {
				return nil
			}
			return []any{next}
		},
		DescribeOperation: func(in, _ any) string { return o.describe(in.(input)) },
		DescribeState:     func(s any) string { return o.describeState(s.(state)) },
	}).ToModel()
}

// step changes s by x, or returns false if x is not allowed.
func (o *object) step(s *state, x input) bool {
	switch x.kind {
	case acquireOp:
		return o.grant(s, x.n, x.optional)
	case releaseOp:
		rest, ok := without(s.held, x.n)
		if s.held = rest; rest == "" {
			s.nest = 0
		}
		if !ok { // it confirms a loss
			_, ok = without(s.over, x.n)
			return ok && o.holds[x.n].joint != 0
		}
		if ok && o.loose() {
			s.over = pack(s.over, x.n)
		}
		return ok
	case lossOp:
		return o.lose(s, x.n+1)
	case queueOp:
		s.queue = pack(s.queue, x.n)
		return true
	case strayOp:
		t := o.strays[x.n]
		_, holds := without(s.held, t.hold)
		return !t.release && holds
	case refusedOp:
		r := o.refused[x.n]
		if o.j.model.kind == anonymous {
			return s.locked
		}
		return !o.admits(s, r.proc, r.shared)
	case eventOp:
		e := &o.events[x.n]
		if e.release && e.hold != none && s.held != pack("", e.hold) {
			return false
		}
		was := s.locked
		s.locked, s.held = !e.release, ""
		if e.silent() && e.asked {
			s.over = pack(s.over, x.n)
		}
		if e.tied {
			s.held = pack("", e.hold)
		}
		return was != s.locked
	case accessOp:
		return o.access(s, &o.accesses[x.n], x.optional)
	}
	return false
}

// lose ends the holds that rest on an entry.
func (o *object) lose(s *state, joint int32) bool {
	rest := ""
	for _, n := range unpack(s.held) {
		switch h := &o.holds[n]; {
		case h.joint != joint:
			rest = pack(rest, n)
		case h.gone != never || o.loose():
			s.over = pack(s.over, n)
		}
	}
	was := s.held
	if s.held = rest; rest == "" {
		s.nest = 0
	}
	return rest != was
}

// admits reports whether the lock may be granted to a process.
func (o *object) admits(s *state, proc int32, shared bool) bool {
	r, limit := o.j.model.rule, o.j.model.N
	held := unpack(s.held)
	for _, n := range held {
		h := &o.holds[n]
		switch {
		case r.permits:
		case r.shared && h.shared && shared:
		case r.reentrant && h.owner == o.j.procs[proc].first:
		default:
			return false
		}
	}
	return limit == 0 || len(held) < limit
}

func (o *object) grant(s *state, n int32, optional bool) bool {
	h := &o.holds[n]
	if !o.admits(s, h.proc, h.shared) {
		return false
	}
	r := o.j.model.rule
	if r.fifo && !o.turn(s, n, optional) {
		return false
	}
	if r.tokens && h.token != 0 {
		switch {
		case s.held != "" && s.nest != 0:
			if h.token != s.nest {
				return false
			}
		case h.token <= s.highest:
			return false
		default:
			s.nest, s.highest = h.token, h.token
		}
	}
	return o.hold(s, n)
}

// turn removes n from the queue if it may be granted now. Indeterminate acquires
// before it may have left. An optional one may take its place at the last moment.
func (o *object) turn(s *state, n int32, optional bool) bool {
	for i, k := range unpack(s.queue) {
		if k == n {
			s.queue = s.queue[4*i+4:]
			return true
		}
		if o.holds[k].presupposed() {
			return false
		}
	}
	if optional {
		s.queue = ""
	}
	return optional
}

func (o *object) hold(s *state, n int32) bool {
	s.held = pack(s.held, n)
	return true
}

// access applies an access to a register.
func (o *object) access(s *state, a *access, optional bool) bool {
	r := o.j.model.rule
	if r.fenced && a.token != 0 {
		if a.what == refuse {
			return a.token < s.highest
		}
		if a.token < s.highest {
			return false
		}
		s.highest = a.token
	}
	switch a.what {
	case refuse:
		return true
	case read:
		if !a.known {
			return true
		}
		if s.known && s.value != a.value {
			return false
		}
		s.value, s.known = a.value, true
	case cas:
		if s.known && a.based && s.value != a.from {
			return false
		}
		s.value, s.known = a.value, a.known
	case write:
		s.value, s.known = a.value, a.known
	}
	if !s.known {
		s.value = 0
	}
	return true
}

// describe returns an operation as text for a picture.
func (o *object) describe(x input) string {
	text := ""
	switch x.kind {
	case acquireOp:
		h := &o.holds[x.n]
		text = "acquire"
		if h.shared {
			text = "acquire shared"
		}
		if h.token != 0 {
			text += fmt.Sprintf(" → token %d", h.token)
		}
	case releaseOp:
		text = "release"
	case lossOp:
		text = "lost"
	case queueOp:
		text = "queued"
	case strayOp:
		text = "extend"
		if o.strays[x.n].release {
			text = "release"
		}
	case refusedOp:
		text = "try → refused"
	case eventOp:
		text = "acquire"
		if o.events[x.n].release {
			text = "release"
		}
	case accessOp:
		text = o.accesses[x.n].String()
	case endOp:
		return "the end"
	}
	if x.optional {
		text += " (perhaps)"
	}
	return text
}

// describeState returns a state as text for a picture.
func (o *object) describeState(s state) string {
	switch o.j.model.kind {
	case anonymous:
		if s.locked {
			return "held"
		}
		return "free"
	case register:
		if !s.known {
			return "not known"
		}
		return fmt.Sprint(s.value)
	}
	var who []string
	for _, n := range unpack(s.held) {
		who = append(who, o.j.who(o.holds[n].proc))
	}
	if who == nil {
		return "free"
	}
	return "held by " + strings.Join(who, ", ")
}
