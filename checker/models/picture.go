package models

import (
	"errors"
	"fmt"
	"io"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/checker"
)

// largest is how many operations a picture may show.
const largest = 1000

// Picture writes Porcupine's picture, an HTML page, of the operations around the
// witness. Without a witness it draws all operations of the lock that has most, if
// they are few. Its times are lines of the file if each entry has a line of its own.
// It returns w's error, or one that says why there is nothing to draw.
func (v *Verdict) Picture(w io.Writer) error {
	if v.picture == nil || v.picture.object.count() == 0 {
		return errors.New("there are no operations to draw")
	}
	o, f := v.picture.object, v.picture.found
	var ops []operation
	switch {
	case f.outcome == checker.Violated:
		ops = o.scene(f)
	case o.count() <= largest:
		ops = o.operations(0, never)
	default:
		return fmt.Errorf("nothing is violated, and %d operations are too many to draw", o.count())
	}
	if len(ops) > largest {
		return fmt.Errorf("the witness spans %d operations: they are too many to draw", len(ops))
	}
	m := o.spec(f.start)
	m.DescribeOperation = func(in, _ any) string {
		x := in.(input)
		if x.kind == endOp {
			return "the end of the history"
		}
		return o.actor(x.opID) + ": " + o.describe(x)
	}
	history := o.history(ops)
	own, rows := o.ownLines(ops), map[int]int{}
	for i := range history {
		h := &history[i]
		if _, ok := rows[h.ClientId]; !ok {
			rows[h.ClientId] = len(rows) // no empty rows
		}
		h.ClientId = rows[h.ClientId]
		if own {
			h.Call, h.Return = o.line(h.Call), o.line(h.Return)
		}
	}
	_, info := porcupine.CheckOperationsVerbose(m, history, drawTime)
	return porcupine.Visualize(m, info, w)
}

// scene returns the operations around the facts, unchanged: of a hold both ends.
func (o *object) scene(f finding) []operation {
	from, to := f.span()
	near := map[int32]bool{} // holds
	var list []operation
	for _, x := range o.operations(from, to) {
		if x.kind <= queueOp {
			near[x.n] = true
		} else {
			list = append(list, x)
		}
	}
	if len(near) == 0 {
		return list
	}
	for _, x := range o.operations(0, never) {
		if x.kind <= queueOp && near[x.n] {
			list = append(list, x)
		}
	}
	return list
}

// ownLines reports whether the lines distinguish the operations.
func (o *object) ownLines(ops []operation) bool {
	from, to := extent(ops)
	return len(ops) > 0 && o.lines.of(to)-o.lines.of(from) >= int(to-from)
}

// line returns the line of the file for a time of Porcupine's history. Times after
// the history become the line after the last one.
func (o *object) line(at int64) int64 {
	size := int64(o.size)
	if at < size {
		return int64(o.lines.of(int32(at)))
	}
	return int64(o.lines.of(int32(size-1))) + at - size + 1
}

// actor names the client of an operation.
func (o *object) actor(x opID) string {
	p := o.procOf(x)
	if p == none {
		return "resource"
	}
	return o.who(p)
}
