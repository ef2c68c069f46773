package checker

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// act is a line of a server about an entry in its store.
type act struct {
	pos  int32
	made int32 // the operation that made the entry, an acquire or an extend, or none
	by   int32 // the operation whose request did it, or none
	deed deed
}

// grants returns the operation that a grants, or none: its request made an entry,
// took one over, or prolonged one as its owner.
func (a *act) grants() int32 {
	switch a.deed {
	case granted:
		return a.made
	case takenOver, prolonged:
		return a.by
	}
	return none
}

// act processes a line of a server. Its grant is replaced by the acquire that got it,
// because the grant is missing while the ok is on its way.
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

// asked returns the acquire for which operation op makes entries: op itself, or if op
// is an extend, the acquire that its grant stands on. none: it makes no entries.
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

// guestOf returns the last hold of another acquire that stands on the entries that
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
	hold int32 // the hold under which it was made, or none
	lock int32 // the lock of its resource
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

// unseen returns why the servers' acts cannot be judged for p, or "". The header
// names what was observed. In a history without a header, lines of servers show that
// some acts were observed. That is enough for ownership, where one command proves a
// violation. For answers all acts are needed.
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
