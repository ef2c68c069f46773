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
	made int32 // the operation that made the entry, an acquire or an extend, or none
	by   int32 // the operation whose request did it, or none
	deed deed
}

// grants is the operation to which the server says yes with a, or none: its request
// made an entry, took one over, or prolonged one as its owner.
func (a *act) grants() int32 {
	switch a.deed {
	case granted:
		return a.made
	case takenOver, prolonged:
		return a.by
	}
	return none
}

// act takes in a line of a server. Its grant is turned into the acquire that
// got it, because the grant is missing while the ok is on its way.
func (t *timeline) act(pos int32, e *history.Entry) {
	d := deedOf(e.F)
	if e.F == history.Promote {
		t.promotion(pos, e)
	}
	if d == 0 {
		return
	}
	made := t.opOf(e.Op)
	if made == none && e.Grant != 0 {
		if h := t.holdOf.get(e.Grant); h != none {
			made = t.holds[h].stands
		}
	}
	if cap(t.acts) == 0 {
		t.acts = make([]act, 0, t.size()/4)
	}
	t.acts = append(t.acts, act{pos: pos, made: made, by: t.opOf(e.By), deed: d})
}

// asked is the acquire whose entries operation op makes: op itself, or the one
// that the grant stands on which op extends; none: it makes none.
func (t *timeline) asked(op int32) int32 {
	if op == none {
		return none
	}
	switch o := &t.ops[op]; {
	case o.verb == acquire:
		return op
	case o.verb == extend && o.hold != none:
		return t.holds[o.hold].stands
	}
	return none
}

// guestOf is the last hold of another acquire that stands on the entries that
// operation op makes, or none.
func (t *timeline) guestOf(op int32) int32 {
	if op = t.asked(op); op == none {
		return none
	}
	return t.ops[op].guest
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
		t.accesses = make([]access, 0, t.size()/4)
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
