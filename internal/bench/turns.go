package bench

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Turns is what the history of a lock tells of its clients' turns from begin up
// to end. Who is refused and asks again goes on waiting: a wait goes from the
// first time that a client asks to its grant.
//
// Whoever asks later and is granted the lock first overtakes. What counts is the
// order in which clients ask, which is what they can see: a place in the queue,
// of a lock that has one, comes a little later.
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

// wait is a client's; the zero wait is over.
type wait struct {
	place int // in the order in which clients have asked, from 1
	since time.Duration
}

// granted counts a grant to c, and whom it overtakes.
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
