package checker

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// deed is what a server does with an entry of its store.
type deed uint8

const (
	granted deed = iota + 1
	removed
	takenOver
	shortened
	prolonged
	expired
	lost
)

func deedOf(f string) deed {
	switch f {
	case history.Granted:
		return granted
	case history.Remove:
		return removed
	case history.Takeover:
		return takenOver
	case history.Shorten:
		return shortened
	case history.Prolong:
		return prolonged
	case history.Expire:
		return expired
	case history.Lose:
		return lost
	}
	return 0
}

// act is a line of a server about an entry in its store.
type act struct {
	pos  int32
	made int32 // the acquire that made the entry, or none
	by   int32 // the operation whose request did it, or none
	deed deed
}

// act takes in a line of a server. Its grant is turned into the acquire that
// got it, because the grant is missing while the ok is on its way.
func (t *timeline) act(pos int32, e *history.Entry) {
	d := deedOf(e.F)
	if d == 0 {
		return
	}
	made := t.opOf(e.Op)
	if made == none && e.Grant != 0 {
		if h := t.holdOf.get(e.Grant); h != none {
			made = t.holds[h].op
		}
	}
	if cap(t.acts) == 0 {
		t.acts = make([]act, 0, len(t.entries)/4)
	}
	t.acts = append(t.acts, act{pos: pos, made: made, by: t.opOf(e.By), deed: d})
}

// access is a line of the guarded resource.
type access struct {
	pos  int32
	hold int32 // under which it was made, or none
	lock int32 // that guards what it accessed
}

func (t *timeline) access(pos int32, e *history.Entry) {
	a := access{pos: pos, hold: none}
	if o := t.opOf(e.By); o != none {
		a.hold = t.ops[o].hold
	} else if e.Grant != 0 {
		a.hold = t.holdOf.get(e.Grant)
	}
	if a.hold != none {
		a.lock = t.holds[a.hold].lock
	} else {
		a.lock = t.locks.id(e.Lock)
	}
	if cap(t.accesses) == 0 {
		t.accesses = make([]access, 0, len(t.entries)/4)
	}
	t.accesses = append(t.accesses, a)
}

// unseen is why nobody can judge what the servers did, or "". The place says
// what it saw. A history without a header shows by having such lines that some
// were seen, and a command that trespasses convicts by itself; but that an
// answer was a lie takes all of them.
func (t *timeline) unseen(p Property) string {
	switch {
	case slices.Contains(t.head.Observes, string(p)):
		return ""
	case len(t.acts) == 0:
		return "the history does not say what the servers did to the entries of their stores"
	case t.head.Format == 0 && p == Ownership:
		return ""
	default:
		return fmt.Sprintf("nobody says that all that the servers did was seen: the header's \"observes\" does not name %q", p)
	}
}
