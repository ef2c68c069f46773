package checker

import (
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// timeline is a history with its references resolved: completions, holds, waits and
// faults. It is built in one pass; every property reads it and none changes it.
//
// "Position" is an entry's index in History.Entries. Positions, ids of operations,
// holds and so on are int32: timelines of runs are built thousands of times a second
// and should stay in the cache.
type timeline struct {
	head    *history.Header
	entries journal
	length  int32         // number of entries
	end     time.Duration // the last entry's time: nothing was observed after it
	lease   time.Duration // T; 0: unknown
	grace   time.Duration // a client that asks again within it goes on waiting

	ops       []op    // in the order of their invokes
	opAt      []int32 // by position: the operation that the entry invokes or completes
	holds     []hold  // in the order of their begins
	confirmed []int32 // holds whose acquire was indeterminate
	deadlines []deadline
	acts      []act
	accesses  []access
	faults    []fault
	deaths    []ending
	waits     []wait  // in the order of their begins
	places    []place // in the order of their begins
	grants    int     // acquires that came back ok

	promotions []int32 // positions at which a replica became the master of its node
	extended   int     // extends that came back ok
	renewals   int     // reports that a grant is valid until another time
	losses     int     // reports that a grant is lost

	procs   []proc
	clients []client
	names   words // of clients, in the order of clients
	locks   words

	procOf  numbering     // process number → procs
	holdOf  numbering     // grant → holds
	faultOf numbering     // id → the last of faults
	unsure  map[int]int32 // by its grant: an indeterminate acquire

	ahead    *ahead           // nil: no client was killed
	byServer map[string]int32 // the last fault that stops a server
	stalls   []fault

	finders finders
	excuses [2][]excusedTime // by excuse; nil: not known yet

	violated []bool // by lock; nil: a judge ends with the first violation

	// Memory for the judges.
	scratch  scratch
	bases    []basis
	stays    []stay
	verdicts []Verdict
}

// size returns the number of entries: a position after all of them.
func (t *timeline) size() int32 { return t.length }

func (t *timeline) at(pos int32) time.Duration {
	if t.entries.log == nil { // so that it is inlined
		return t.entries.list[pos].Time
	}
	return t.entries.time(int(pos))
}

// firstAt returns the first position at a time or after it.
func (t *timeline) firstAt(at time.Duration) int32 {
	return int32(sort.Search(int(t.size()), func(i int) bool { return t.at(int32(i)) >= at }))
}

// entry returns the entry at pos.
func (t *timeline) entry(pos int32) *history.Entry { return t.entries.at(int(pos)) }

// opOf returns the operation that has an entry with this index, or none.
func (t *timeline) opOf(index history.Opt) int32 {
	if at := t.entries.find(index); at != none {
		return t.opAt[at]
	}
	return none
}

// clientOf returns the id of the client that runs operation id.
func (t *timeline) clientOf(id int32) int32 { return t.procs[t.ops[id].proc].client }

// clientNamed returns the id of a client, which may be new.
func (t *timeline) clientNamed(name string) int32 {
	c := t.names.id(name)
	if int(c) == len(t.clients) {
		t.clients = slices.Grow(t.clients, 1)[:c+1]
		t.clients[c] = client{last: none, died: none, wait: t.clients[c].wait[:0], holders: none, ended: none, placed: none, retired: none}
	}
	return c
}

// clientsOf yields the clients that f acts on and that have a line.
func (t *timeline) clientsOf(f *fault) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, name := range t.entry(f.start).On {
			if c := t.names.find(name); c != none && !yield(c) {
				return
			}
		}
	}
}

// endOf returns the position at which o ends, or the size of the history if it does
// not.
func (t *timeline) endOf(o *op) int32 {
	if o.done == none {
		return t.size()
	}
	return o.done
}

// lastEffect returns the position up to which o may take effect.
func (t *timeline) lastEffect(o *op) int32 {
	if o.outcome == history.Info {
		return t.size()
	}
	return t.endOf(o)
}

// shared returns 1 for the grant of a reader, and 0 for any other.
func (t *timeline) shared(h *hold) int {
	if t.ops[h.op].shared {
		return 1
	}
	return 0
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

// goesOn reports whether a judge goes on after it has found a violation on a lock, and
// then notes that lock.
func (t *timeline) goesOn(lock int32) bool {
	if t.violated == nil {
		return false
	}
	t.violated[lock] = true
	return true
}

func (t *timeline) innermost(p, lock int32) int32 {
	for id := t.procs[p].inner; id != none; id = t.holds[id].outer {
		if t.holds[id].lock == lock {
			return id
		}
	}
	return none
}

// held returns the hold that e acts on: by its grant, else the innermost open one of
// its process and lock.
func (t *timeline) held(e *history.Entry, p int32) int32 {
	if e.Grant != 0 {
		return t.holdOf.get(e.Grant)
	}
	return t.innermost(p, t.locks.find(e.Lock))
}

// lostBy returns the hold that a loss of hold id by process p ends, with all others of
// p on the lock. A grant without a hold so far, such as that of an open acquire, has
// no hold, and is one of p's own entry.
func (t *timeline) lostBy(id, p, lock int32) int32 {
	if id != none {
		return id
	}
	return t.innermost(p, lock)
}

// known returns the deadline that a hold's client knew at pos, or before its ok
// arrived, the deadline in the ok. none: no deadline.
func (t *timeline) known(h *hold, pos int32) int32 {
	d := h.deadline
	for d != none && t.deadlines[d].pos > pos && t.deadlines[d].prev != none {
		d = t.deadlines[d].prev
	}
	return d
}

// validUntil returns the time of that deadline, or 0 without one.
func (t *timeline) validUntil(h *hold, pos int32) time.Duration {
	if d := t.known(h, pos); d != none {
		return t.deadlines[d].until
	}
	return 0
}

// firstGrants returns by operation the position of the first act of a server that
// grants it, or none.
func (t *timeline) firstGrants() []int32 {
	first := t.scratch.zeros(len(t.ops))
	for i := range first {
		first[i] = none
	}
	for i := range t.acts {
		if op := t.acts[i].grants(); op != none && first[op] == none {
			first[op] = t.acts[i].pos
		}
	}
	return first
}
