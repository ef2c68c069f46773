package report

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// certain takes in that what a line of the nemesis announced has happened: line is
// that line's f. It reports whether there is such a line.
//
// The effect came somewhere between the two lines. Its place is that of the second,
// unless something shows that it was there before.
func (d *digest) certain(line string, pos int, e *history.Entry) bool {
	kind, ends := strings.CutSuffix(line, history.EndSuffix)
	for _, f := range slices.Backward(d.faultsOf[faultID{kind, e.ID}]) {
		switch {
		case ends && f.end == none:
			continue
		case ends:
			f.hits = e.Hits
			f.end = d.until(f.end, pos, func(e *history.Entry) bool { return d.acts(f, e) })
		case f.end == none && !f.words().deadly: // a client is dead to the checker from the first line on
			f.start = d.until(f.start, pos, func(e *history.Entry) bool { return d.suffers(f, e) })
			f.sure = min(f.start+1, pos)
		}
		return true
	}
	return false
}

// until is the position to, or the last one after from and before what shows it.
func (d *digest) until(from, to int, shows func(*history.Entry) bool) int {
	for pos := from + 1; pos < to; pos++ {
		if shows(&d.h.Entries[pos]) {
			return pos - 1
		}
	}
	return to
}

// acts tells whether e is something that a victim of f did, or that was done for it.
func (d *digest) acts(f *fault, e *history.Entry) bool {
	if e.Process.Client() {
		return e.Type != history.Invoke && f.strikes(client(e)) // its harness writes the invoke
	}
	by := d.opAt(e.By)
	return f.strikes(e.Process.Name) || by != nil && f.strikes(by.client)
}

// suffers tells whether e is what f brings about: who is without its session, its
// data or its true time loses an entry that nobody took.
func (d *digest) suffers(f *fault, e *history.Entry) bool {
	if e.By.Set || e.Process.Name == history.Nemesis {
		return false
	}
	w, made := f.words(), d.opAt(e.Op)
	struck := f.strikes(e.Process.Name) || made != nil && f.strikes(made.client)
	switch e.F {
	case history.Lose:
		return struck
	case history.Promote:
		return f.strikes(e.Text)
	case history.Expire, history.Remove:
		return struck && (w.amount || w.deadly || w.once)
	case history.Lost:
		return f.strikes(client(e)) && (w.amount || w.once)
	}
	// Of several servers nobody knows which one did not answer.
	return w.down && d.h.Header.Nodes < 2 && (e.Error == errUnavailable || e.Error == errUnknown)
}

// How an operation ends whose connection cannot be made, or is lost.
const (
	errUnavailable = "unavailable"
	errUnknown     = "unknown"
)

// blurred tells whether it is not nearly known when f struck. Whom a fault meets at a
// point, though, stands there until it is certain.
func (d *digest) blurred(f *fault) bool {
	return (f.point == "" || f.words().down) && d.at(f.sure)-d.at(f.begins) > d.slack()
}
