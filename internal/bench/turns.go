package bench

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Turns returns the figures that the history of a lock gives for the time from begin to
// end. A client that is refused and asks again continues to wait: a wait goes from the
// first time that a client asks to its grant. A client overtakes if it asks later and
// is granted the lock first. The order in which clients ask counts, because clients can
// see it. The place in a queue, if a lock has one, is decided a little later.
func Turns(h *history.History, clients []string, begin, end time.Duration) Figures {
	f := Figures{Grants: make([]int, len(clients)), Overtaken: make([]int, len(clients))}
	waits := make([]wait, len(clients))
	asked, last := 0, -1
	for i := range h.Entries {
		e := &h.Entries[i]
		c := slices.Index(clients, e.Client)
		switch {
		case c < 0:
		case e.Type == history.Info || e.Type == history.Fail && e.Error != history.ErrHeld:
			f.Failed++
		case e.F != history.Acquire || e.Time >= end:
		case e.Type == history.Invoke && waits[c].place == 0:
			asked++
			waits[c] = wait{asked, e.Time}
		case e.Type == history.OK:
			if e.Time >= begin {
				f.granted(waits, c)
				f.waited(e.Time-waits[c].since, false)
				if c == last {
					f.Again++
				}
			}
			last, waits[c] = c, wait{}
		}
	}
	for _, w := range waits {
		if w.place > 0 {
			f.waited(end-w.since, true)
		}
	}
	return f
}

// wait is the wait of a client; the zero value means that it does not wait.
type wait struct {
	place int // place in the order of asking, from 1
	since time.Duration
}

// granted counts a grant to client c, and the clients that it overtakes.
func (f *Figures) granted(waits []wait, c int) {
	f.Grants[c]++
	overtakes := false
	for i, w := range waits {
		if w.place > 0 && w.place < waits[c].place {
			f.Overtaken[i]++
			overtakes = true
		}
	}
	if overtakes {
		f.OutOfTurn++
	}
}

func (f *Figures) waited(d time.Duration, waiting bool) {
	if d > f.Longest {
		f.Longest, f.Waiting = d, waiting
	}
}
