package checker

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockcheck/lockcheck/history"
)

// Limits of a picture.
const (
	drawable    = 200 // operations; a browser shows no larger number at a glance
	drawTimeout = 2 * time.Second
)

// Drawable reports whether Porcupine judges a property, and so can draw it.
func Drawable(p Property) bool { return encoders[p] != nil }

// Picture writes Porcupine's picture, an HTML page, of the operations around the
// witness of v; without a witness, of all operations. It returns w's error, or one
// that says why there is nothing to draw.
func Picture(h *history.History, v *Verdict, w io.Writer) error {
	encode := encoders[v.Property]
	if encode == nil {
		return fmt.Errorf("%s is not what Porcupine judges", v.Property)
	}
	var keep func(pos int) bool
	if v.Witness != nil {
		keep = around(v.Witness)
	}
	l := readLines(journal{list: h.Entries}, keep)
	ops := encode(l)
	switch {
	case len(ops) == 0:
		return errors.New("there is no operation to draw")
	case len(ops) > drawable:
		return fmt.Errorf("%d operations are too many to draw: %d fit", len(ops), drawable)
	}
	m := model
	m.Partition = byLock
	m.DescribeOperation = func(input, _ any) string { return l.describe(input.(step)) }
	m.DescribeState = func(state any) string { return l.describeObject(state.(object)) }
	lanes(ops, int64(len(h.Entries)))
	_, info := porcupine.CheckOperationsVerbose(m, ops, drawTimeout)
	return porcupine.Visualize(m, info, w)
}

// lanes gives each operation a row of the picture: one row for each process, and one
// for each end of a hold, which lasts until the end.
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

// describe returns a step in the words of a history.
func (l *lines) describe(s step) string {
	var words string
	switch s.what {
	case lockStep:
		words = l.who(s.proc) + " acquire → ok"
	case unlockStep:
		words = l.who(s.proc) + " holds no longer"
	case replaceStep:
		words = fmt.Sprintf("%s write %d over %d → ok", l.who(s.proc), s.to, s.from)
	case putStep:
		words = fmt.Sprintf("%s write %d → ok", l.who(s.proc), s.to)
	}
	if name := l.lockNames[s.lock]; len(l.lockNames) > 1 && name != "" {
		words += " (" + name + ")"
	}
	return words
}

func (l *lines) describeObject(o object) string {
	var parts []string
	switch {
	case o.owner != 0 && o.depth > 1:
		parts = append(parts, fmt.Sprintf("%s holds, %d deep", l.who(o.owner-1), o.depth))
	case o.owner != 0:
		parts = append(parts, l.who(o.owner-1)+" holds")
	case !o.value.Set:
		parts = append(parts, "free")
	}
	if o.value.Set {
		parts = append(parts, fmt.Sprintf("value %d", o.value.V))
	}
	return strings.Join(parts, ", ")
}

// who returns the client of a process.
func (l *lines) who(proc int32) string {
	if proc == none {
		return "somebody"
	}
	return l.procNames[proc]
}
