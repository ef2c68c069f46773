package checker

import (
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/history"
)

// linearizable asks Porcupine, a general checker of linearizability. A search of more
// steps than the budget is Unknown. The limit is in steps, not time, so that the
// result is the same on any machine. The second result is the number of steps.
//
// It judges the properties that can be modelled as an object with operations:
// exclusion and lease-exclusion as a mutex that knows its owner, resource as a
// register that is read, modified and written in one step. An acquire takes effect
// between its invoke and its ok. The end of a hold is a release that may take effect
// at any time after it. Indeterminate acquires are left out, unless the lock itself
// confirmed the grant later.
func linearizable(ops []porcupine.Operation, budget int) (Outcome, int) {
	steps := 0
	for _, part := range byLock(ops) {
		m := model
		m.Step = func(state, input, output any) (bool, any) {
			if steps++; steps > budget {
				return false, state // so that the search ends
			}
			return model.Step(state, input, output)
		}
		switch fits := porcupine.CheckOperations(m, part); {
		case steps > budget:
			return Unknown, steps
		case !fits:
			return Violated, steps
		}
	}
	return Valid, steps
}

// byLock splits operations by lock.
func byLock(ops []porcupine.Operation) (parts [][]porcupine.Operation) {
	of := map[int32]int{}
	for _, o := range ops {
		lock := o.Input.(step).lock
		if _, known := of[lock]; !known {
			of[lock] = len(parts)
			parts = append(parts, nil)
		}
		parts[of[lock]] = append(parts[of[lock]], o)
	}
	return parts
}

// encoders make the operations of the properties that Porcupine judges, from the
// lines of a history alone.
var encoders = map[Property]func(*lines) []porcupine.Operation{
	Exclusion:      (*lines).mutexOps,
	LeaseExclusion: (*lines).leaseOps,
	Resource:       (*lines).registerOps,
}

// step is the input of an operation: its kind and its lock.
type step struct {
	lock     int32
	what     stepKind
	proc     int32 // its process; none: of a write, unknown
	shared   bool  // of a lock and of an unlock: a reader's
	from, to int64 // of replace; of put, to
}

type stepKind uint8

const (
	lockStep stepKind = iota
	unlockStep
	replaceStep // from by to
	putStep
)

// object is the state of one lock and of its resource.
type object struct {
	owner   int32 // 1 + the process that holds exclusively; 0: none
	depth   int32
	readers []int32     // processes that share the lock, in order
	value   history.Opt // not Set: unknown so far
}

// admits reports whether in may be granted the lock, beside the readers or instead of
// them.
func (s *object) admits(in *step) bool {
	if s.owner != 0 && s.owner != in.proc+1 {
		return false
	}
	return in.shared || !slices.ContainsFunc(s.readers, func(p int32) bool { return p != in.proc })
}

// model is a mutex that its owner may lock again, that readers share, and a register.
var model = porcupine.Model{
	Init: func() any { return object{} },
	Equal: func(x, y any) bool {
		a, b := x.(object), y.(object)
		return a.owner == b.owner && a.depth == b.depth && a.value == b.value && slices.Equal(a.readers, b.readers)
	},
	Step: func(state, input, _ any) (bool, any) {
		s, in := state.(object), input.(step)
		at, reads := slices.BinarySearch(s.readers, in.proc)
		switch {
		case in.what == lockStep && !s.admits(&in), in.what == unlockStep && in.shared && !reads:
			return false, s
		case in.what == lockStep && in.shared:
			s.readers = slices.Insert(slices.Clone(s.readers), at, in.proc)
			return true, s
		case in.what == unlockStep && in.shared:
			s.readers = slices.Delete(slices.Clone(s.readers), at, at+1)
			return true, s
		}
		switch in.what {
		case lockStep:
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

func (l *lines) mutexOps() (ops []porcupine.Operation) {
	for _, c := range l.claims {
		if c.to < 0 || c.from <= c.to {
			ops = l.lockAndUnlock(ops, c, c.asked, c.from, c.to)
		}
	}
	return ops
}

// lockAndUnlock adds the two operations of a claim, or of part of one, that began
// between asked and got, and ended at end; -1: it did not end.
func (l *lines) lockAndUnlock(ops []porcupine.Operation, c *claim, asked, got, end int) []porcupine.Operation {
	if end < 0 {
		end = l.length
	}
	in := step{lock: c.lock, what: lockStep, proc: c.proc.number, shared: c.shared}
	out := in
	out.what = unlockStep
	return append(ops,
		porcupine.Operation{Input: in, Call: int64(asked), Return: int64(got)},
		porcupine.Operation{Input: out, Call: int64(end), Return: int64(l.length) + 1})
}

// leaseOps cuts each claim into the parts during which its deadline was ahead.
func (l *lines) leaseOps() (ops []porcupine.Operation) {
	for _, c := range l.claims {
		asked := c.asked
		for _, part := range l.believed(c) {
			ops = l.lockAndUnlock(ops, c, asked, part.from, part.to)
			asked = part.to
		}
	}
	return ops
}

// part is a stretch of positions.
type part struct{ from, to int }

// believed returns the parts of a claim during which its deadline was ahead. A part
// may be empty: that of a client without a sign of life after its ok.
func (l *lines) believed(c *claim) (list []part) {
	end := c.to
	if end < 0 {
		end = l.length
	}
	for i, d := range c.until {
		over := sort.Search(l.length, func(i int) bool { return int64(l.entries.time(i)) >= d.until })
		if over <= d.pos || end < d.pos {
			continue
		}
		p := part{d.pos, min(end, over)}
		if i+1 < len(c.until) {
			p.to = min(p.to, c.until[i+1].pos)
		}
		if n := len(list); n > 0 && list[n-1].to == p.from {
			list[n-1].to = p.to
		} else {
			list = append(list, p)
		}
	}
	return list
}

// registerOps returns the writes to the resource.
func (l *lines) registerOps() (ops []porcupine.Operation) {
	if len(l.accesses) == 0 {
		return l.clientRegisterOps()
	}
	type knowledge struct {
		since int32 // position of the invoke of a write, or of the answer to a read
		value int64
	}
	known := map[*claim][]knowledge{} // by claim: what it, or one nested in it, read or wrote
	last := map[int32]history.Opt{}   // by lock: the value in place
	for _, a := range l.accesses {
		e := l.entries.at(a.pos)
		if e.F == history.Refuse || e.F == history.Read && a.by != nil && a.by.outcome != history.OK {
			continue
		}
		in := step{lock: a.lock, what: putStep, proc: none, to: e.Value.V}
		if a.claim != nil {
			in.proc = a.claim.proc.number
			since := int32(a.pos)
			if a.by != nil && e.F == history.Write {
				since = int32(a.by.invoke)
			} else if a.by != nil {
				since = int32(a.by.done)
			}
			list := known[a.claim.root]
			n := sort.Search(len(list), func(i int) bool { return list[i].since > since }) // a request may be applied twice
			if n > 0 {
				in.what, in.from = replaceStep, list[n-1].value
			}
			known[a.claim.root] = slices.Insert(list, n, knowledge{since, e.Value.V})
		}
		if e.F != history.Write {
			continue
		}
		at := 2 * (int64(a.pos) + 1)
		if e.Was.Set && e.Was != last[a.lock] { // the value before the history, or of an unrecorded write
			ops = append(ops, porcupine.Operation{Input: step{lock: a.lock, what: putStep, proc: none, to: e.Was.V}, Call: at - 1, Return: at - 1})
		}
		last[a.lock] = e.Value
		ops = append(ops, porcupine.Operation{Input: in, Call: at, Return: at})
	}
	return ops
}

// clientRegisterOps uses the clients' lines. An indeterminate write whose value no
// operation used is left out: that is always possible, and with it the search would
// have to try everything.
func (l *lines) clientRegisterOps() (ops []porcupine.Operation) {
	type write struct {
		*request
		from history.Opt
	}
	type guarded struct { // a value of one lock's resource
		lock  int32
		value int64
	}
	known := map[*claim]history.Opt{}
	var list []write
	for _, r := range l.updates {
		if r.outcome == history.Fail {
			continue
		}
		w := write{request: r}
		if r.claim != nil {
			w.from = known[r.claim.root]
		}
		if r.f == history.Write && r.value.Set {
			list = append(list, w)
		}
		switch {
		case r.claim == nil:
		case r.outcome == history.OK:
			known[r.claim.root] = r.value
		case r.f == history.Write: // it may have happened or not
			delete(known, r.claim.root)
		}
	}
	used := map[guarded]bool{}
	for grown := true; grown; {
		grown = false
		for _, w := range list {
			from := guarded{w.lock, w.from.V}
			if w.from.Set && !used[from] && (w.outcome == history.OK || used[guarded{w.lock, w.value.V}]) {
				used[from], grown = true, true
			}
		}
	}
	for _, w := range list {
		in := step{lock: w.lock, what: putStep, proc: w.proc.number, to: w.value.V}
		if w.from.Set {
			in.what, in.from = replaceStep, w.from.V
		}
		done := int64(w.done)
		if w.outcome != history.OK {
			if done = int64(l.length) + 1; !used[guarded{w.lock, w.value.V}] {
				continue
			}
		}
		ops = append(ops, porcupine.Operation{Input: in, Call: int64(w.invoke), Return: done})
	}
	return ops
}
