package models

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/checker"
)

// confirm also asks Porcupine. If Porcupine contradicts, the result is Unknown.
func (o *object) confirm(b *budget, f finding) finding {
	if f.outcome == checker.Violated && !f.absence {
		f = o.prune(b, f)
		for _, start := range f.starts(o.model.kind) {
			if window := o.around(f); len(window) <= windowSize && b.quick(o, window, start) == checker.Valid {
				return disagreement(f, "Porcupine finds an order for the operations around it")
			}
		}
	}
	if o.count() > smallEnough || o.unanswered() > fewUnanswered {
		return f
	}
	// All valid locks share few steps: there may be many of them.
	before := b.steps
	whole := checker.Unknown
	if f.outcome == checker.Violated {
		whole = b.quick(o, o.operations(0, never), o.start())
	} else if b.spare > 0 {
		whole, _ = b.search(o, o.operations(0, never), o.start(), b.spare)
		b.spare -= b.steps - before
	}
	switch {
	case whole == checker.Valid && f.outcome == checker.Violated:
		return disagreement(f, "Porcupine finds an order for all operations")
	case whole == checker.Violated && f.outcome == checker.Valid:
		return disagreement(f, "Porcupine finds no order for the operations")
	}
	return f
}

// around returns the operations that may have taken effect during the facts, and
// those that made the values in them. All but the facts are optional.
func (o *object) around(f finding) []operation {
	from, to := f.span()
	shown := map[int64]bool{} // values
	facts := map[opID]bool{}
	for _, x := range f.facts {
		facts[x.op] = true
	}
	var list []operation
	add := func(x operation) {
		if facts[x.opID] || o.relax(&x) {
			list = append(list, x)
			if x.kind == accessOp {
				a := &o.accesses[x.n]
				shown[a.from] = shown[a.from] || a.what == cas
				shown[a.value] = shown[a.value] || a.what == read
			}
		}
	}
	for _, x := range o.operations(from, to) {
		add(x)
	}
	if o.model.kind != register {
		return list
	}
	for i := len(o.accesses) - 1; i >= 0 && len(list) <= windowSize; i-- {
		a := &o.accesses[i]
		if a.call != atFirst && a.ret < from && shown[a.value] && (a.what == write || a.what == cas) {
			add(operation{opID{accessOp, int32(i)}, a.call, a.ret, a.proc, false})
		}
	}
	return list
}

// prune leaves out facts that are not needed, if there may be any: without them
// Porcupine finds no order either.
func (o *object) prune(b *budget, f finding) finding {
	if o.model.kind != register && !f.excess || len(o.around(f)) > windowSize {
		return f
	}
	for k := 0; k < len(f.facts) && len(f.facts) > 1; k++ {
		fewer := f
		fewer.facts = slices.Delete(slices.Clone(f.facts), k, k+1)
		possible := func(start state) bool { return b.quick(o, o.around(fewer), start) != checker.Violated }
		if !slices.ContainsFunc(fewer.starts(o.model.kind), possible) {
			fewer.sentence = o.noOrder(fewer.facts)
			f, k = fewer, -1
		}
	}
	return f
}

func disagreement(f finding, why string) finding {
	said := "valid"
	if f.outcome == checker.Violated {
		said = "violated: " + f.sentence
	}
	return undecided(fmt.Sprintf("the judges disagree: %s; the direct check says %s", why, said))
}
