package models

import (
	"container/heap"
	"fmt"
	"slices"
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// event is an acquire or a release of a mutex that knows no owner. It takes
// effect between call and ret; ret is never: or not at all.
type event struct {
	proc, call, ret int32
	release         bool
}

// event takes in one that came back as typ says.
func (j *Judge) event(l, proc, call, pos int32, typ history.Type, release bool) {
	if typ != history.OK {
		pos = never
	}
	j.locks[l].events = append(j.locks[l].events, event{proc, call, pos, release})
}

// alternation gives events their turns: an acquire when the mutex is free, a
// release when it is held. It puts off each one for as long as that is possible.
type alternation struct {
	events  []event
	locked  bool
	done    []bool
	waiting [2]urgent // acquires and releases that were invoked and have a completion
	spare   [2]int    // indeterminate ones that were invoked
}

// urgent is a heap of events, the one with the earliest completion first.
type urgent struct {
	events []event
	list   []int32
}

func (u *urgent) Len() int           { return len(u.list) }
func (u *urgent) Less(a, b int) bool { return u.events[u.list[a]].ret < u.events[u.list[b]].ret }
func (u *urgent) Swap(a, b int)      { u.list[a], u.list[b] = u.list[b], u.list[a] }
func (u *urgent) Push(x any)         { u.list = append(u.list, x.(int32)) }
func (u *urgent) Pop() any {
	n := len(u.list) - 1
	x := u.list[n]
	u.list = u.list[:n]
	return x
}

// side is the index of releases, or of acquires.
func side(release bool) int {
	if release {
		return 1
	}
	return 0
}

// stuck is the event for which there was no turn, or none. Events come in the
// order of their calls; optional[i], if there is such a list, makes event i
// one that need not happen.
func stuck(events []event, optional []bool, locked bool) int32 {
	a := alternation{events: events, locked: locked, done: make([]bool, len(events))}
	a.waiting[0].events, a.waiting[1].events = events, events
	must := make([]int32, 0, len(events))
	for i := range events {
		if events[i].ret != never && (optional == nil || !optional[i]) {
			must = append(must, int32(i))
		}
	}
	slices.SortFunc(must, func(x, y int32) int { return int(events[x].ret) - int(events[y].ret) })
	next := 0
	for _, i := range must {
		for ; next < len(events) && events[next].call <= events[i].ret; next++ {
			if e := &events[next]; e.ret == never || optional != nil && optional[next] {
				a.spare[side(e.release)]++
			} else {
				heap.Push(&a.waiting[side(e.release)], int32(next))
			}
		}
		if !a.done[i] && !a.take(i) {
			return i
		}
	}
	return none
}

// take gives event i its turn, after one of the other kind if need be.
func (a *alternation) take(i int32) bool {
	if release := a.events[i].release; release != a.locked && !a.turn(!release) {
		return false
	}
	a.done[i] = true
	a.locked = !a.locked
	return true
}

// turn gives the most urgent event of a kind its turn.
func (a *alternation) turn(release bool) bool {
	w := &a.waiting[side(release)]
	for w.Len() > 0 {
		if i := heap.Pop(w).(int32); !a.done[i] {
			a.done[i] = true
			a.locked = !a.locked
			return true
		}
	}
	if a.spare[side(release)] == 0 {
		return false
	}
	a.spare[side(release)]--
	a.locked = !a.locked
	return true
}

// judgeEvents judges a mutex without owners.
func (o *object) judgeEvents() finding {
	if !slices.IsSortedFunc(o.events, byCall) {
		slices.SortStableFunc(o.events, byCall) // those that never came back are last
	}
	i := stuck(o.events, nil, false)
	switch {
	case i != none:
		return o.noTurn(i)
	case len(o.refused) > 0:
		return undecided("tries were refused")
	default:
		return legal
	}
}

func byCall(a, b event) int { return int(a.call) - int(b.call) }

// noTurn is the violation that event i had no turn: as few events as can be
// found of which there is no order.
func (o *object) noTurn(i int32) finding {
	events, free := o.window(i)
	optional := make([]bool, len(events))
	impossible := func() bool {
		return stuck(events, optional, false) != none && (free || stuck(events, optional, true) != none)
	}
	// By halves: long stretches that are not needed go first. One search takes
	// as long as the list, so a very long one is not gone through to the end.
	work := 0
	for size := (len(events) + 1) / 2; size > 0 && work < 100_000_000; size /= 2 {
		for at := 0; at < len(events) && work < 100_000_000; at += size {
			was := slices.Clone(optional[at:min(at+size, len(events))])
			for k := range was {
				optional[at+k] = true
			}
			if work += len(events); !impossible() {
				copy(optional[at:], was)
			}
		}
	}
	var facts []fact
	acquires, releases := 0, 0
	first, last := never, none
	for k := range events {
		e := &events[k]
		if optional[k] || e.ret == never {
			continue
		}
		at := sort.Search(len(o.events), func(n int) bool { return o.events[n].call >= e.call })
		for o.events[at] != *e {
			at++
		}
		facts = append(facts, fact{opID{eventOp, int32(at)}, []int32{e.call, e.ret}})
		first, last = min(first, e.call), max(last, e.ret)
		if e.release {
			releases++
		} else {
			acquires++
		}
	}
	f := violation(facts, "")
	f.sentence = o.counted(events, optional, first, last, acquires, releases)
	f.open, f.whole = !free, free
	return f
}

// counted says of what there were too many: if the facts are of one kind, there
// are too few of the other kind to go between them.
func (o *object) counted(events []event, optional []bool, first, last int32, acquires, releases int) string {
	j := o.j
	between := 0 // of the other kind
	for k := range events {
		if e := &events[k]; e.release == (acquires > 0) && e.call < last && e.ret > first {
			between++
		}
	}
	span := fmt.Sprintf("from line %d to line %d %s", j.lines.of(first), j.lines.of(last), j.named(o.lock))
	few := func(thing string) string {
		if between == 0 {
			return "no " + thing + " can"
		}
		return "no more than " + plural(between, thing) + " can"
	}
	switch {
	case releases == 0 && between+1 < acquires:
		return fmt.Sprintf("%s was granted %d times, and %s have come between.", span, acquires, few("release"))
	case acquires == 0 && releases == 1:
		return fmt.Sprintf("%s was released (%s), and nobody can have acquired it before.", j.named(o.lock), j.span(first, last))
	case acquires == 0 && between+1 < releases:
		return fmt.Sprintf("%s was released %d times, and %s have come between.", span, releases, few("acquire"))
	default:
		return fmt.Sprintf("%s was granted %s and released %s: in no order is it free for each grant and held for each release, whatever the others did.",
			span, times(acquires), times(releases))
	}
}

// window is a short stretch of events, up to the completion of event i, of
// which there is no order, whether the mutex was held before it or not; or
// (free) all events from the start, before which it was not.
func (o *object) window(i int32) (events []event, free bool) {
	until := o.events[i].ret
	for size := int32(8); ; size *= 4 {
		from := until - size
		if from < 0 {
			from = none
		}
		events = events[:0]
		for _, e := range o.events {
			if e.call <= until && e.ret > from {
				if e.ret > until || e.call < from { // it may come after all that, or have been before it
					e.ret = never
				}
				events = append(events, e)
			}
		}
		if from == none {
			return events, true
		}
		if stuck(events, nil, false) != none && stuck(events, nil, true) != none {
			return events, false
		}
	}
}
