package models

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// seed is that of the hashes with which Porcupine finds the states that it has seen.
var seed = maphash.MakeSeed()

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
		Hash:              func(s any) uint64 { return maphash.Comparable(seed, s.(state)) },
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
		DescribeOperation: m.DescribeOperation,
		DescribeState:     m.DescribeState,
		Hash:              m.Hash,
	}).ToModel()
}

// history returns Porcupine's operations, with one more after all certain ones: an
// optional operation that has not had its turn by then is left out.
func (o *object) history(list []operation) []porcupine.Operation {
	end := int64(o.size) + 1
	var ops []porcupine.Operation
	for _, x := range list {
		p := porcupine.Operation{ClientId: int(x.proc), Input: input{x.opID, x.optional}, Call: int64(x.call), Return: int64(x.ret)}
		if x.optional {
			p.Return = end + 2
		}
		ops = append(ops, p)
	}
	return append(ops, porcupine.Operation{ClientId: len(o.procs), Input: input{opID: opID{kind: endOp}}, Call: end, Return: end + 1})
}

// describe returns an operation as text for a picture.
func (o *object) describe(x input) string {
	text := [...]string{
		acquireOp: "acquire", releaseOp: "release", queueOp: "queued", strayOp: "extend", refusedOp: "try → refused",
		eventOp: "acquire", accessOp: "", lossOp: "lost", endOp: "the end",
	}[x.kind]
	switch {
	case x.kind == acquireOp:
		h := &o.holds[x.n]
		if h.shared {
			text += " shared"
		}
		if h.token != 0 {
			text += fmt.Sprintf(" → token %d", h.token)
		}
	case x.kind == strayOp && o.strays[x.n].release, x.kind == eventOp && o.events[x.n].release:
		text = "release"
	case x.kind == accessOp:
		text = o.accesses[x.n].String()
	}
	if x.optional {
		text += " (perhaps)"
	}
	return text
}

// describeState returns a state as text for a picture.
func (o *object) describeState(s state) string {
	switch o.model.kind {
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
		who = append(who, o.who(o.holds[n].proc))
	}
	if who == nil {
		return "free"
	}
	return "held by " + strings.Join(who, ", ")
}
