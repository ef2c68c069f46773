package checker

import (
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/history"
)

// linearizable asks Porcupine, a general checker of linearizability. A search that
// takes longer than the timeout (0: no limit) is Unknown.
//
// It judges what can be said as an object with operations: exclusion and
// lease-exclusion as a mutex that knows its owner, resource as a register that is
// read, modified and written in one step. Both judges see the same operations in the order of lines: an acquire takes
// effect between its invoke and its ok, and the end of a hold is a release that may
// take effect at any time after it. Indeterminate acquires are left out,
// unless the lock itself confirmed the grant later.
func linearizable(ops []porcupine.Operation, timeout time.Duration) (Outcome, string) {
	switch porcupine.CheckOperationsTimeout(model, ops, timeout) {
	case porcupine.Ok:
		return Valid, ""
	case porcupine.Illegal:
		return Violated, ""
	default:
		return Unknown, "Porcupine did not decide in time"
	}
}

// operations is how the operations of a property are made, for the holds that
// keep accepts (nil: all); nil for properties that Porcupine does not judge.
func (t *timeline) operations(p Property) func(keep func(*hold) bool) []porcupine.Operation {
	switch p {
	case Exclusion:
		return t.mutexOps
	case LeaseExclusion:
		return t.leaseOps
	case Resource:
		return func(func(*hold) bool) []porcupine.Operation { return t.registerOps() }
	default:
		return nil
	}
}

// step is the input of an operation: on which lock, and what.
type step struct {
	lock     int32
	what     stepKind
	proc     int32 // whose; none: of a write, nobody's that is known
	from, to int64 // of replace; of put, to
}

type stepKind uint8

const (
	lockStep stepKind = iota
	unlockStep
	replaceStep // from by to
	putStep
)

// object is the state of one lock and of what it guards.
type object struct {
	owner int32 // 1 + the process that holds; 0: nobody
	depth int32
	value history.Opt // not Set: not known yet
}

// model is a mutex that its owner may lock again, and a register.
var model = porcupine.Model{
	Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
		byLock := map[int32][]porcupine.Operation{}
		var locks []int32
		for _, o := range ops {
			l := o.Input.(step).lock
			if byLock[l] == nil {
				locks = append(locks, l)
			}
			byLock[l] = append(byLock[l], o)
		}
		var parts [][]porcupine.Operation
		for _, l := range locks {
			parts = append(parts, byLock[l])
		}
		return parts
	},
	Init: func() any { return object{} },
	Step: func(state, input, _ any) (bool, any) {
		s, in := state.(object), input.(step)
		switch in.what {
		case lockStep:
			if s.owner != 0 && s.owner != in.proc+1 {
				return false, s
			}
			s.owner = in.proc + 1
			s.depth++
		case unlockStep:
			if s.owner != in.proc+1 {
				return false, s
			}
			if s.depth--; s.depth == 0 {
				s.owner = 0
			}
		case replaceStep:
			if s.value.Set && s.value.V != in.from {
				return false, s
			}
			s.value = history.Some(in.to)
		case putStep:
			s.value = history.Some(in.to)
		}
		return true, s
	},
}

func (t *timeline) mutexOps(keep func(*hold) bool) []porcupine.Operation {
	var ops []porcupine.Operation
	for i := range t.holds {
		if h := &t.holds[i]; !h.stillborn() && (keep == nil || keep(h)) {
			ops = t.lockAndUnlock(ops, h, t.ops[h.op].invoke, h.begin, h.end)
		}
	}
	return ops
}

// lockAndUnlock adds the two operations of the hold, or part of a hold, that
// began between asked and got, and ended at end.
func (t *timeline) lockAndUnlock(ops []porcupine.Operation, h *hold, asked, got, end int32) []porcupine.Operation {
	forever := int64(t.size()) + 1
	return append(ops,
		porcupine.Operation{Input: step{lock: h.lock, what: lockStep, proc: h.proc}, Call: int64(asked), Return: int64(got)},
		porcupine.Operation{Input: step{lock: h.lock, what: unlockStep, proc: h.proc}, Call: int64(end), Return: forever})
}

// leaseOps cuts each hold into the parts during which its deadline was ahead.
func (t *timeline) leaseOps(keep func(*hold) bool) []porcupine.Operation {
	var ops []porcupine.Operation
	for i := range t.holds {
		h := &t.holds[i]
		if keep != nil && !keep(h) {
			continue
		}
		asked := t.ops[h.op].invoke
		for _, part := range t.parts(h) {
			ops = t.lockAndUnlock(ops, h, asked, part.from, part.to)
			asked = part.to
		}
	}
	return ops
}

// part is a stretch of positions.
type part struct{ from, to int32 }

// parts are the stretches of a hold during which its deadline was ahead. One
// may be empty: of a client of which nothing was heard after its ok.
func (t *timeline) parts(h *hold) []part {
	var list []part // the last one first
	next := h.end
	for i := h.deadline; i != none; i = t.deadlines[i].prev {
		d := &t.deadlines[i]
		over := int32(sort.Search(len(t.entries), func(i int) bool { return t.entries[i].Time >= d.until }))
		p := part{d.pos, min(next, over)}
		next = min(next, d.pos)
		switch n := len(list); {
		case over <= d.pos || h.end < d.pos:
		case n > 0 && list[n-1].from == p.to:
			list[n-1].from = p.from
		default:
			list = append(list, p)
		}
	}
	slices.Reverse(list)
	return list
}

// registerOps are the writes to the resource.
func (t *timeline) registerOps() []porcupine.Operation {
	if len(t.accesses) == 0 {
		return t.clientRegisterOps()
	}
	var ops []porcupine.Operation
	known := make([]history.Opt, len(t.holds))
	begun := make([]bool, len(t.locks.list))
	for _, a := range t.accesses {
		e := &t.entries[a.pos]
		if e.F == history.Refuse {
			continue
		}
		in := step{lock: a.lock, what: putStep, proc: none, to: e.Value.V}
		if a.hold != none {
			in.proc = t.holds[a.hold].proc
			k := &known[t.holds[a.hold].nest]
			if k.Set {
				in.what, in.from = replaceStep, k.V
			}
			*k = e.Value
		}
		if e.F != history.Write {
			continue
		}
		if !begun[a.lock] && e.Was.Set { // what was there before everything
			ops = append(ops, porcupine.Operation{Input: step{lock: a.lock, what: putStep, proc: none, to: e.Was.V}})
		}
		begun[a.lock] = true
		at := int64(a.pos) + 1
		ops = append(ops, porcupine.Operation{Input: in, Call: at, Return: at})
	}
	return ops
}

// clientRegisterOps takes in what clients say. An indeterminate write that
// nobody built on is left out: leaving it out is always possible, and with it
// the search would have to try everything.
func (t *timeline) clientRegisterOps() []porcupine.Operation {
	type guarded struct { // a value of what one lock guards
		lock  int32
		value int64
	}
	list := t.updates()
	used := map[guarded]bool{}
	for grown := true; grown; {
		grown = false
		for i := range list {
			u := &list[i]
			lock := t.ops[u.op].lock
			basis := guarded{lock, u.basis.value.V}
			if u.basis.value.Set && !used[basis] && (u.accepted || used[guarded{lock, u.value}]) {
				used[basis], grown = true, true
			}
		}
	}
	var ops []porcupine.Operation
	for i := range list {
		u := &list[i]
		o := &t.ops[u.op]
		in := step{lock: o.lock, what: putStep, proc: o.proc, to: u.value}
		if u.basis.value.Set {
			in.what, in.from = replaceStep, u.basis.value.V
		}
		done := int64(t.size()) + 1
		if u.accepted {
			done = int64(o.done)
		} else if !used[guarded{o.lock, u.value}] {
			continue
		}
		ops = append(ops, porcupine.Operation{Input: in, Call: int64(o.invoke), Return: done})
	}
	return ops
}
