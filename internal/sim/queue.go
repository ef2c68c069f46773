package sim

import "time"

// event is something that will happen at a time: a task's timer, a message's
// arrival, a call.
type event struct {
	at   time.Duration
	seq  uint64 // events of one instant happen in the order in which they were made
	what happening
}

type happening interface{ happen(w *World) }

// action is a happening that is just a function.
type action func()

func (f action) happen(*World) { f() }

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// queue is a list in order, the next event first. Few events are under way at
// a time, and a new one mostly belongs near the front, since latencies are
// short: it is quicker than a heap to let what comes before it make room.
type queue struct {
	events []event
	room   []event // events are its end; what is before them is free
}

func (q *queue) push(e event) {
	head := len(q.room) - len(q.events)
	if head == 0 {
		head = q.grow()
	}
	q.events = q.room[head-1:]
	es := q.events
	i := 0
	for ; i+1 < len(es) && es[i+1].before(&e); i++ {
		es[i] = es[i+1]
	}
	es[i] = e
}

// grow makes as much room as there are events, and returns how much.
func (q *queue) grow() int {
	head := max(len(q.events), 64)
	room := make([]event, head+len(q.events))
	copy(room[head:], q.events)
	q.room = room
	return head
}

func (q *queue) pop() event {
	first := q.events[0]
	q.events[0].what = nil
	q.events = q.events[1:]
	return first
}

// empty is an empty queue in the same room.
func (q *queue) empty() queue {
	return queue{events: q.room[len(q.room):], room: q.room}
}
