package checker

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// hold is the time during which the holder of one grant may believe that it
// has the lock. It begins at the ok of its acquire and ends at the first of
//   - the invoke of its release, whatever comes of it;
//   - an extend that failed with lost or not-held;
//   - the report that the lock noticed its loss;
//   - the kill or the power-off of its client, or the start of the pause in
//     which that struck;
//   - the last line of its client before it died without having been killed.
//
// A grant that an indeterminate acquire named counts from the moment at which
// the lock confirmed it: an extend that said ok, or a renewal. Accesses to the
// resource confirm nothing, and a release comes after the end.
//
// Holds of one process do not conflict: the inner one deepens the outer one.
type hold struct {
	grant    int
	lock     int32
	proc     int32
	op       int32 // its acquire
	begin    int32 // position of the entry that confirmed it
	end      int32 // position of the entry that ended it; the size of the history while it is open
	released int32 // position of its release's invoke; the size of the history if there is none
	deadline int32 // its last deadline, or none
	outer    int32 // the open hold that it was nested in when it began, or none
	inside   int32 // the hold of the same process and lock that it was nested in, or none
	token    uint64
}

// deadline is what a holder knew, from a position on, about how long it holds.
type deadline struct {
	hold  int32
	pos   int32
	prev  int32 // the hold's deadline before
	until time.Duration
}

// begin opens the hold that e, at pos, confirms for the acquire op.
func (t *timeline) begin(op, pos int32, e *history.Entry) int32 {
	o := &t.ops[op]
	p := &t.procs[o.proc]
	id := int32(len(t.holds))
	t.holds = append(t.holds, hold{
		grant: e.Grant, lock: o.lock, proc: o.proc, op: op, begin: pos,
		end: t.size(), released: t.size(), deadline: none,
		outer: p.inner, inside: t.innermost(o.proc, o.lock), token: e.Token,
	})
	o.hold = id
	p.inner = id
	if e.Grant != 0 {
		t.holdOf.put(e.Grant, id)
	}
	t.deadline(id, pos, e.ValidUntil)
	return id
}

// presuppose opens the hold of an indeterminate acquire whose grant e confirms.
func (t *timeline) presuppose(pos int32, e *history.Entry) int32 {
	op, ok := t.unsure[e.Grant]
	if !ok {
		return none
	}
	delete(t.unsure, e.Grant)
	confirmed := *e
	confirmed.Token, confirmed.ValidUntil = 0, 0
	return t.begin(op, pos, &confirmed)
}

// deadline notes what e says about the end of a hold.
func (t *timeline) deadline(id, pos int32, until time.Duration) {
	if id == none || until == 0 || t.holds[id].end < pos {
		return
	}
	h := &t.holds[id]
	t.deadlines = append(t.deadlines, deadline{hold: id, pos: pos, prev: h.deadline, until: until})
	h.deadline = int32(len(t.deadlines)) - 1
}

// validUntil is the deadline that a hold's client knew at pos; before its ok
// arrived, the one that the ok brought. 0: it says nothing.
func (t *timeline) validUntil(id, pos int32) time.Duration {
	var until time.Duration
	for d := t.holds[id].deadline; d != none; d = t.deadlines[d].prev {
		until = t.deadlines[d].until
		if t.deadlines[d].pos <= pos {
			break
		}
	}
	return until
}

// held is the hold that e acts on: by its grant, else the innermost open one
// of its process and lock.
func (t *timeline) held(e *history.Entry, p int32) int32 {
	if e.Grant != 0 {
		return t.holdOf.get(e.Grant)
	}
	return t.innermost(p, t.locks.find(e.Lock))
}

func (t *timeline) innermost(p, lock int32) int32 {
	for id := t.procs[p].inner; id != none; id = t.holds[id].outer {
		if t.holds[id].lock == lock {
			return id
		}
	}
	return none
}

func (t *timeline) released(id, pos int32) {
	if h := &t.holds[id]; h.released == t.size() {
		h.released = pos
	}
	t.endHold(id, pos)
}

func (t *timeline) endHold(id, pos int32) {
	if id == none || t.holds[id].end != t.size() {
		return
	}
	h := &t.holds[id]
	h.end = max(pos, h.begin)
	for link := &t.procs[h.proc].inner; *link != none; link = &t.holds[*link].outer {
		if *link == id {
			*link = h.outer
			return
		}
	}
}

// endHolds ends all that client holds.
func (t *timeline) endHolds(client, pos int32) {
	for p := range t.procs {
		if t.procs[p].client != client {
			continue
		}
		for t.procs[p].inner != none {
			t.endHold(t.procs[p].inner, pos)
		}
	}
}

// covers tells whether h is open at pos.
func (h *hold) covers(pos int32) bool { return h.begin <= pos && pos < h.end }
