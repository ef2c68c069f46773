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

// queue is a heap of four children a node: half as deep as one of two, which
// is what counts where most events are popped soon after they are pushed.
type queue struct{ events []event }

func (q *queue) push(e event) {
	q.events = append(q.events, e)
	es := q.events
	i := len(es) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&es[parent]) {
			break
		}
		es[i] = es[parent]
		i = parent
	}
	es[i] = e
}

func (q *queue) pop() event {
	es := q.events
	first := es[0]
	last := es[len(es)-1]
	es[len(es)-1] = event{}
	es = es[:len(es)-1]
	q.events = es
	if len(es) == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(es) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(es)); c++ {
			if es[c].before(&es[least]) {
				least = c
			}
		}
		if !es[least].before(&last) {
			break
		}
		es[i] = es[least]
		i = least
	}
	es[i] = last
	return first
}
