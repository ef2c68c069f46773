package models

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// event is an acquire or a release of a mutex without owners. It takes effect between
// call and ret. If ret is never, it may not take effect at all.
type event struct {
	proc, call, ret int32
	hold            int32 // of an acquire: its hold; of a release: the hold that it can end, or none: any
	about           int32 // of a release: the hold that its process means, or none
	by              int32 // of a release with an ok: the first event without an answer that it may confirm, or none
	n               int32 // its index among the events of its lock
	release         bool
	tied            bool // of an acquire: there is a release that can end only this hold
	open            bool // of a release: its process may also mean another hold of its client
	asked           bool // of an event without an answer: a release may confirm it
}

// event notes an acquire or release that completed with typ.
func (j *Judge) event(e event, l int32, typ history.Type) {
	if typ != history.OK {
		e.ret = never
	}
	j.locks[l].events = append(j.locks[l].events, e)
}

// ends adds to the events of a lock the losses and deaths that may have ended holds,
// and sorts them. Each is an optional release. One that may come before its acquire
// is certain can only end that acquire's hold; these are last.
func (j *Judge) ends(events []event) []event {
	if len(j.ceased) > 0 {
		for i := range events {
			e := &events[i]
			if at, ok := j.ceased[e.hold]; ok && !e.release {
				end := event{proc: e.proc, call: max(at, e.call), ret: never, hold: none, release: true, about: e.hold}
				if at <= e.ret {
					end.hold, e.tied = e.hold, true
				}
				events = append(events, end)
			}
		}
	}
	if order := eventOrder; !slices.IsSortedFunc(events, order) {
		slices.SortStableFunc(events, order)
	}
	j.confirmable(events)
	return events
}

func eventOrder(a, b event) int {
	if x, y := a.release && a.hold != none, b.release && b.hold != none; x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.call, b.call)
}

// alternation gives events their turns: an acquire when the mutex is free, a release
// when it is held. It delays each event for as long as possible.
type alternation struct {
	events  []event
	locked  bool
	done    []bool
	waiting [2]urgent // invoked acquires and releases with a completion
	spare   [2]int    // invoked indeterminate ones

	turns []int32 // events, in the order of their turns; none for a spare
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

// side returns the index of releases, or of acquires.
func side(release bool) int {
	if release {
		return 1
	}
	return 0
}

// stuck returns the event for which there was no turn, or none. Events come in the
// order of their calls. If optional is not nil, optional[i] makes event i optional.
func stuck(events []event, optional []bool, locked bool) int32 {
	a := alternation{events: events, locked: locked}
	return a.run(optional)
}

// run gives events their turns, up to the first event without a possible turn.
func (a *alternation) run(optional []bool) int32 {
	events := a.events
	a.done, a.turns = make([]bool, len(events)), make([]int32, 0, len(events))
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

// take gives event i its turn, after one of the other kind if necessary.
func (a *alternation) take(i int32) bool {
	if release := a.events[i].release; release != a.locked && !a.turn(!release) {
		return false
	}
	a.done[i] = true
	a.pass(i)
	return true
}

// pass notes a turn.
func (a *alternation) pass(i int32) {
	a.turns = append(a.turns, i)
	a.locked = !a.locked
}

// turn gives the most urgent event of a kind its turn.
func (a *alternation) turn(release bool) bool {
	w := &a.waiting[side(release)]
	for w.Len() > 0 {
		if i := heap.Pop(w).(int32); !a.done[i] {
			a.done[i] = true
			a.pass(i)
			return true
		}
	}
	if a.spare[side(release)] == 0 {
		return false
	}
	a.spare[side(release)]--
	a.pass(none)
	return true
}

// judgeEvents judges a mutex without owners. A grant that may have ended before it
// was certain is optional: it may have been given and taken back in one instant. A
// release that may confirm an earlier one may have taken effect then. A violation in
// spite of all that is certain.
func (o *object) judgeEvents() finding {
	seems := o.events
	for n := len(seems); n > 0 && seems[n-1].release && seems[n-1].hold != none; n-- {
		seems = seems[:n-1]
	}
	least := *o
	least.events = seems
	tied := slices.ContainsFunc(seems, func(e event) bool { return e.tied && e.ret != never })
	confirms := slices.ContainsFunc(seems, event.confirms)
	if tied || confirms {
		least.events = o.loosened(seems, true)
	}
	a := alternation{events: least.events}
	i := a.run(nil)
	switch {
	case i != none:
		return least.noTurn(&a, i)
	case len(o.refused) > 0:
		return undecided("tries were refused")
	case !tied && !confirms || stuck(seems, nil, false) == none:
		return legal
	case confirms && stuck(o.loosened(seems, false), nil, false) == none:
		return legal
	case confirms:
		return undecided("a release may have confirmed an earlier one")
	default:
		return undecided("a grant may have ended before it was certain")
	}
}

// The longest stretch of events that is searched for the few that prove a violation,
// and the number of events that are shown of a longer one.
const (
	longestWindow = 256
	lastEvents    = 4
)

// noTurn returns the violation that event i had no turn. It has as few events without
// an order as can be found; for a long stretch it has their number.
func (o *object) noTurn(a *alternation, i int32) finding {
	events, free := o.window(i)
	if len(events) > longestWindow {
		return o.tooMany(a, i)
	}
	optional := make([]bool, len(events))
	impossible := func() bool {
		return stuck(events, optional, false) != none && (free || stuck(events, optional, true) != none)
	}
	for size := (len(events) + 1) / 2; size > 0; size /= 2 { // by halves: long stretches that are not needed go first
		for at := 0; at < len(events); at += size {
			was := slices.Clone(optional[at:min(at+size, len(events))])
			for k := range was {
				optional[at+k] = true
			}
			if !impossible() {
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
		facts = append(facts, fact{opID{eventOp, e.n}, []int32{e.call, e.ret}})
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

// counted says which events there were too many of: if the facts are of one kind, too
// few of the other kind can go between them.
func (o *object) counted(events []event, optional []bool, first, last int32, acquires, releases int) string {
	j := o.j
	between := 0 // events of the other kind
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

// tooMany is the same, by numbers. All events were delayed for as long as possible,
// and all invoked events of the other kind have had their turns: there are too few of
// them. If an event of its own kind had an early turn because one of the other kind
// was urgent, only later events count.
func (o *object) tooMany(a *alternation, i int32) finding {
	last := &o.events[i]
	from, first := 0, none
	release := a.locked // kind of the turn under examination
	for k := len(a.turns) - 1; k >= 0; k-- {
		if release = !release; release != last.release {
			continue
		}
		if n := a.turns[k]; n == none || o.events[n].ret > last.ret {
			from = k + 2 // after the urgent one
			first = o.events[a.turns[k+1]].ret
			break
		}
	}
	var facts []fact
	same, other := 1, 0
	for k := len(a.turns) - 1; k >= from; k-- {
		n := a.turns[k]
		if n == none || o.events[n].release != last.release {
			other++
			continue
		}
		if same++; same <= lastEvents {
			facts = append(facts, fact{opID{eventOp, o.events[n].n}, []int32{o.events[n].call, o.events[n].ret}})
		}
	}
	facts = append(facts, fact{opID{eventOp, last.n}, []int32{last.call, last.ret}})
	j := o.j
	said := []string{plural(same, "grant"), plural(other, "release")}
	if last.release {
		said = []string{plural(same, "release"), plural(other, "grant")}
	}
	span := fmt.Sprintf("up to line %d", j.lines.of(last.ret))
	if first != none {
		span = fmt.Sprintf("from line %d to line %d", j.lines.of(first), j.lines.of(last.ret))
	}
	f := violation(facts, "%s of %s: %s, at most %s.", span, j.named(o.lock), said[0], said[1])
	f.absence = true
	return f
}

// window returns a short stretch of events, up to the completion of event i, that has
// no order, whether or not the mutex was held before it. If free is set, it returns
// all events from the start, when the mutex was not held.
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
				if e.ret > until || e.call < from { // it may come after all of them, or have come before
					e.ret = never
				}
				events = append(events, e)
			}
		}
		if from == none || len(events) > longestWindow {
			return events, true
		}
		if stuck(events, nil, false) != none && stuck(events, nil, true) != none {
			return events, false
		}
	}
}
