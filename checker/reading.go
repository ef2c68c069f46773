package checker

import (
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// Timeline is a history as Judge reads it, with its references resolved: operations,
// holds, faults and deaths, each with the lines where it begins and ends. A line is a
// position in History.Entries. An int that names an operation, a hold or a death is its
// place in the list of these. Absent lines and places are -1.
type Timeline struct {
	Operations []Operation // in the order of their invokes
	Holds      []Hold      // in the order of their begins
	Injections []Injection // in the order of their first lines
	Deaths     []Death     // in the order of their lines
}

// Operation is an operation of a client.
type Operation struct {
	Client, Lock string
	Invoke, Done int // lines
	Died         int // line of its client's death during the operation
	Hold         int // the hold that it acts on, or that the acquire got
}

// Hold is the time in which a client may believe that it has the lock.
type Hold struct {
	Acquire, Release int // its operations; of several releases the first one
	Begin, End       int // lines; End is before Begin if the client died before the ok was written
	Nest             int // the outermost hold of its process in which it is nested, or itself
	Death            int // the death that ended it
	Token            uint64
	Confirmed        bool  // its acquire had no answer, and a later line confirmed it
	Lost             bool  // its client noticed that it had lost the lock
	Deadlines        []int // the lines that gave its client a valid_until
}

// Injection is one use of a fault.
type Injection struct {
	Begin, Sure int // lines of its start: the first one, and the one by which it has struck
	Heals, End  int // lines of its end: the first one and the last one
}

// Death is the end of a client.
type Death struct {
	Client string
	Line   int // the line that reports it
	Heard  int // the line of its last sign of life
}

// ReadTimeline returns the timeline of h. It expects a history that history.Check
// accepts; the timeline of another history may lack things.
func ReadTimeline(h *history.History) *Timeline {
	t := newTimeline(h)
	line := func(pos int32) int {
		if pos == t.size() {
			return int(none)
		}
		return max(int(pos), 0) // a client without a sign of life ended before all lines
	}
	r := &Timeline{Operations: make([]Operation, len(t.ops)), Holds: make([]Hold, len(t.holds))}
	died := make([][]int, len(t.clients)) // by client
	for _, x := range t.deaths {
		r.Deaths = append(r.Deaths, Death{t.names.list[x.client], int(x.line), int(x.heard)})
		died[x.client] = append(died[x.client], int(x.line))
	}
	for i, o := range t.ops {
		c := t.clientOf(int32(i))
		x := Operation{t.names.list[c], t.locks.list[o.lock], int(o.invoke), int(o.done), int(none), int(o.hold)}
		if n := sort.SearchInts(died[c], x.Invoke); n < len(died[c]) && (o.done == none || died[c][n] < x.Done) {
			x.Died = died[c][n]
		}
		r.Operations[i] = x
	}
	for i, h := range t.holds {
		x := Hold{
			Acquire: int(h.op), Release: int(none), Begin: int(h.begin), End: line(h.end), Nest: int(h.nest), Death: int(h.death),
			Token: h.token, Confirmed: t.ops[h.op].outcome != history.OK, Lost: h.lost,
		}
		if h.released != t.size() {
			x.Release = int(t.opAt[h.released])
		}
		r.Holds[i] = x
	}
	for _, d := range t.deadlines {
		if h := &t.holds[d.hold]; !h.stillborn() || h.death != none { // else its client was already dead
			r.Holds[d.hold].Deadlines = append(r.Holds[d.hold].Deadlines, int(d.pos))
		}
	}
	for _, f := range t.faults {
		if f.kind != stall {
			r.Injections = append(r.Injections, Injection{int(f.start), int(f.sure), line(f.heals), line(f.end)})
		}
	}
	slices.SortFunc(r.Injections, func(a, b Injection) int { return a.Begin - b.Begin })
	return r
}
