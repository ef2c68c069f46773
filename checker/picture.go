package checker

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/history"
)

// How much is drawn.
const drawable = 200 // operations; a browser shows no more at a glance

// Drawable tells whether Porcupine judges a property, and so can draw it.
func Drawable(p Property) bool { return new(timeline).operations(p) != nil }

// Picture writes Porcupine's picture, an HTML page, of the operations around
// the witness of v; without a witness, of all operations. Its error is w's, or
// says why there is nothing to draw.
func Picture(h *history.History, v *Verdict, w io.Writer) error {
	t := newTimeline(h)
	operations := t.operations(v.Property)
	if operations == nil {
		return fmt.Errorf("%s is not what Porcupine judges", v.Property)
	}
	var keep func(*hold) bool
	if v.Witness != nil {
		keep = around(v.Witness)
	}
	ops := operations(keep)
	switch {
	case len(ops) == 0:
		return errors.New("there is no operation to draw")
	case len(ops) > drawable:
		return fmt.Errorf("%d operations are too many to draw: %d fit", len(ops), drawable)
	}
	m := model
	m.DescribeOperation = func(input, _ any) string { return t.describe(input.(step)) }
	m.DescribeState = func(state any) string { return t.describeObject(state.(object)) }
	lanes(ops, int64(t.size()))
	_, info := porcupine.CheckOperationsVerbose(m, ops, 10*referenceTimeout)
	return porcupine.Visualize(m, info, w)
}

// lanes gives each operation a row of the picture: those of a process one, and
// one each to the ends of holds, which last until the end.
func lanes(ops []porcupine.Operation, end int64) {
	rows := map[int32]int{}
	for i := range ops {
		proc := ops[i].Input.(step).proc
		if _, ok := rows[proc]; !ok {
			rows[proc] = len(rows)
		}
		ops[i].ClientId = rows[proc]
	}
	next := len(rows)
	for i := range ops {
		if ops[i].Return > end {
			ops[i].ClientId = next
			next++
		}
	}
}

// describe says what a step does, as in a history.
func (t *timeline) describe(s step) string {
	var words string
	switch s.what {
	case lockStep:
		words = t.who(s.proc) + " acquire → ok"
	case unlockStep:
		words = t.who(s.proc) + " holds no longer"
	case replaceStep:
		words = fmt.Sprintf("%s write %d over %d → ok", t.who(s.proc), s.to, s.from)
	case putStep:
		words = fmt.Sprintf("%s write %d → ok", t.who(s.proc), s.to)
	}
	if name := t.locks.list[s.lock]; len(t.locks.list) > 1 && name != "" {
		words += " (" + name + ")"
	}
	return words
}

func (t *timeline) describeObject(o object) string {
	var parts []string
	switch {
	case o.owner != 0 && o.depth > 1:
		parts = append(parts, fmt.Sprintf("%s holds, %d deep", t.who(o.owner-1), o.depth))
	case o.owner != 0:
		parts = append(parts, t.who(o.owner-1)+" holds")
	case !o.value.Set:
		parts = append(parts, "free")
	}
	if o.value.Set {
		parts = append(parts, fmt.Sprintf("value %d", o.value.V))
	}
	return strings.Join(parts, ", ")
}

// who is the client of a process.
func (t *timeline) who(proc int32) string {
	if proc == none {
		return "somebody"
	}
	return t.names.list[t.procs[proc].client]
}
