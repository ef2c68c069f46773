package sim

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Waker resumes a task that waits in Beside.
type Waker struct {
	task   *task
	serial int
	ended  bool
}

// Wake ends the wait. It is called in the scheduler's turn.
func (x *Waker) Wake() {
	x.ended = true
	if x.task.serial == x.serial && !x.task.ended {
		x.task.answer()
	}
}

// Beside begins something outside, and returns when Wake of the Waker has been called,
// or with false at the time until.
func (h *host) Beside(until time.Duration, begin func(*Waker)) bool {
	x := &Waker{task: h.sched.current, serial: h.sched.current.serial}
	begin(x)
	for !x.ended && h.sched.now < until {
		h.park(until)
	}
	if !x.ended {
		x.serial = 0 // it wakes nobody any more
	}
	return x.ended
}

// opIndex returns the index of the operation that a request belongs to: the running one,
// or the last. What the lock sends while its client uses the resource belongs to the
// acquire of the grant. 0: there was none.
func (h *host) opIndex() int {
	switch o := h.operation; {
	case o == nil:
		return 0
	case (o.kind == history.Read || o.kind == history.Write) && o.Acquire != 0:
		return o.Acquire
	default:
		return o.Index
	}
}

// tell announces a point outside of tasks. A fault that pauses the client there stops
// its messages.
func (h *host) tell(r numberedRequest, last, after bool) {
	if h.armed && !r.operation.over {
		h.sched.observer.Point(h.name, r.operation.Op, h.pointOf(r, last, after))
	}
}

// entryEnd is when an entry of a grant ends, as its client sees it.
type entryEnd struct {
	acquire     int
	server, key string
	until       time.Duration
	gone        bool // the entry is
}

func (h *host) noteEnd(acquire int, server, key string, until time.Duration) {
	for i := range h.ends {
		if e := &h.ends[i]; e.acquire == acquire && e.server == server && e.key == key {
			e.until, e.gone = until, false
			return
		}
	}
	h.ends = append(h.ends, entryEnd{acquire, server, key, until, false})
}

// hadEntry reports whether requests for the grant of this acquire have made an entry.
func (h *host) hadEntry(acquire int, server, key string) bool {
	return slices.ContainsFunc(h.ends, func(e entryEnd) bool { return e.acquire == acquire && e.server == server && e.key == key })
}

// noteGone notes that the entry of a key is not there any more.
func (h *host) noteGone(server, key string) {
	for i := range h.ends {
		if e := &h.ends[i]; e.server == server && e.key == key {
			e.gone = true
		}
	}
}

// Entered reports whether requests of this acquire have made an entry.
func (h *host) Entered(acquire int) bool {
	return slices.ContainsFunc(h.ends, func(e entryEnd) bool { return e.acquire == acquire })
}

// EntriesEnd returns when the first of the entries ends that requests of this acquire
// made; 0: they do not end, or there are none.
func (h *host) EntriesEnd(acquire int) time.Duration {
	until := never
	for _, e := range h.ends {
		if e.acquire == acquire && !e.gone {
			until = min(until, e.until)
		}
	}
	if until == never {
		return 0
	}
	return until
}
