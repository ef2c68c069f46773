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
// unless something shows that it was there before: then it is just before that. A
// server, though, takes its time to come back, and is told to be there by its first sign
// of life.
func (d *digest) certain(line string, pos int, e *history.Entry) bool {
	kind, ends := strings.CutSuffix(line, history.EndSuffix)
	for _, f := range slices.Backward(d.faultsOf[faultID{kind, e.ID}]) {
		switch {
		case ends && f.end == none:
			continue
		case ends:
			f.hits = e.Hits
			sign := d.first(f.end, pos, func(e *history.Entry) bool { return d.acts(f, e) })
			if sign < pos && !f.Down() {
				sign--
			}
			f.end = sign
		case f.end == none && !f.Ends: // a client is dead to the checker from the first line on
			f.sure = d.first(f.start, pos, func(e *history.Entry) bool { return d.suffers(f, e) })
			f.start = f.sure
			if f.sure < pos {
				f.start--
			}
		}
		return true
	}
	return false
}

// first is the first position after from that shows something, at the latest to.
func (d *digest) first(from, to int, shows func(*history.Entry) bool) int {
	for pos := from + 1; pos < to; pos++ {
		if shows(&d.h.Entries[pos]) {
			return pos
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
	made := d.opAt(e.Op)
	struck := f.strikes(e.Process.Name) || made != nil && f.strikes(made.client)
	switch e.F {
	case history.Lose:
		return struck
	case history.Promote:
		return f.strikes(e.Text)
	case history.Expire, history.Remove:
		return struck && (f.Clock || f.Rate || f.Ends || f.Once)
	case history.Lost:
		return f.strikes(client(e)) && (f.Clock || f.Rate || f.Once)
	}
	// Of several servers nobody knows which one did not answer.
	return f.Down() && d.h.Header.Nodes < 2 && (e.Error == errUnavailable || e.Error == errUnknown)
}

// How an operation ends whose connection cannot be made, or is lost.
const (
	errUnavailable = "unavailable"
	errUnknown     = "unknown"
)

// lingers tells whether it is not nearly known when f ended: a server comes back some
// time after the order to start.
func (d *digest) lingers(f *fault) bool {
	return f.end != none && f.Down() && d.at(f.end)-d.at(f.heals) > d.nearly()
}

// blurred tells whether it is not nearly known when f struck. Whom a fault meets at a
// point, though, stands there until it is certain.
func (d *digest) blurred(f *fault) bool {
	return (f.point == "" || f.Down()) && d.at(f.sure)-d.at(f.begins) > d.slack()
}
