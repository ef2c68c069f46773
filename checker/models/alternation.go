package models

import (
	"container/heap"
	"slices"
)

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

func (u *urgent) Len() int { return len(u.list) }

func (u *urgent) Less(a, b int) bool { return u.events[u.list[a]].ret < u.events[u.list[b]].ret }

func (u *urgent) Swap(a, b int) { u.list[a], u.list[b] = u.list[b], u.list[a] }

func (u *urgent) Push(x any) { u.list = append(u.list, x.(int32)) }

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
