package checker

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

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
		return fmt.Sprintf("the history does not record all that the servers did: the header's \"observes\" does not name %q", p)
	}
}
