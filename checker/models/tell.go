package models

import (
	"fmt"
	"slices"
)

// noOrder returns a sentence that the facts have no order.
func (o *object) noOrder(facts []fact) string {
	var said []string
	facts = slices.Clone(facts)
	slices.SortFunc(facts, func(a, b fact) int { return int(a.at[0]) - int(b.at[0]) })
	for _, x := range facts {
		said = append(said, o.tell(x.op, x.at[0], x.at[len(x.at)-1]))
	}
	text := "there is no order for this: " + list(said)
	if last := facts[len(facts)-1].op; last.kind == accessOp {
		if a := &o.accesses[last.n]; a.what == read && len(facts) > 1 {
			text += fmt.Sprintf(", and no write of %d fits in between", a.value)
		}
	}
	if f := o.model.First; f.Set {
		text += fmt.Sprintf("; %d was there at first", f.V)
	}
	return text + "."
}

// tell returns an operation as words for a sentence.
func (o *object) tell(x opID, from, to int32) string {
	if x.kind == accessOp {
		return o.doing(x.n)
	}
	return fmt.Sprintf("%s: %s (%s)", o.who(o.procOf(x)), o.describe(input{opID: x}), o.span(from, to))
}

// doing returns an access as words for a sentence.
func (o *object) doing(i int32) string {
	a := &o.accesses[i]
	if a.call == atFirst {
		return fmt.Sprintf("%d was there at first", a.value)
	}
	at := o.span(a.call, a.call) + ", without an answer"
	if a.ret != never {
		at = o.span(a.call, a.ret)
	}
	if a.proc == none { // a line of the resource
		return fmt.Sprintf("%d was %s (%s)", a.value, map[what]string{read: "read", write: "written"}[a.what], at)
	}
	who := o.who(a.proc)
	switch a.what {
	case write:
		return fmt.Sprintf("%s wrote %d (%s)", who, a.value, at)
	case cas:
		return fmt.Sprintf("%s replaced %d by %d (%s)", who, a.from, a.value, at)
	default:
		return fmt.Sprintf("%s read %d (%s)", who, a.value, at)
	}
}

func (o *object) whose(a *access) string {
	if a.proc == none {
		return "an access"
	}
	return o.who(a.proc)
}
