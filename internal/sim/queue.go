package sim

import "time"

// never is later than every event.
const never = time.Duration(1<<63 - 1)

// event is a future event: a task's timer, a message's arrival, a call.
type event struct {
	at   time.Duration
	seq  uint64 // events of one instant happen in the order of their creation
	what handler
}

type handler interface{ happen() }

// action is a happening made of a function.
type action func()

func (f action) happen() { f() }

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// queue is a sorted list, the next event first. Only few events are under way at
// a time, and a new one mostly belongs near the front, since latencies are short.
// Moving the earlier ones is faster than a heap.
type queue struct {
	events []event
	room   []event // events is its end, the part before is free
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

// grow makes room for as many events again and returns how many.
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

// empty returns an empty queue that uses the same memory.
func (q *queue) empty() queue {
	return queue{events: q.room[len(q.room):], room: q.room}
}
