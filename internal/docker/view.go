package docker

import (
	"math"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// view is what is observed of servers in a run: all that happens to the entries of
// locks, or nothing any more.
type view struct {
	names    []string // of the locks
	observer env.Observer
	log      func(format string, args ...any)
	subject  string // of a message, with its verb: "redis-1 is"

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when dropped or more has changed; nil: nobody waits
	dropped bool          // a report was missed: nothing is observed in this run
}

// drop stops observing in this run: no verdict is better than a wrong one.
func (v *view) drop(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dropLocked(format, args...)
}

func (v *view) dropLocked(format string, args ...any) {
	if !v.dropped {
		v.dropped = true
		v.log(v.subject+" no longer observed: "+format, args...)
	}
	v.signal()
}

// observes reports whether every report was understood so far.
func (v *view) observes() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.dropped
}

// signal wakes those who wait for a change. The caller holds mu.
func (v *view) signal() {
	if v.changed != nil {
		close(v.changed)
		v.changed = make(chan struct{})
	}
}

// await returns true when so, which it calls with mu held, returns true, when nothing is
// observed any more, or when stop is closed; false at the limit.
func (v *view) await(stop <-chan struct{}, limit <-chan time.Time, so func() bool) bool {
	for {
		v.mu.Lock()
		done, changed := so() || v.dropped, v.changed
		v.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-stop:
			return true
		case <-limit:
			return false
		}
	}
}

// event passes an event of an entry to the observer. op and by are 0 or operator if they are
// no operation of a client; text is "" or history.SessionOver. The caller holds mu, which
// keeps events in order.
func (v *view) event(server, f, lock, key string, op, by int64, text string) {
	e := history.Entry{
		Process: history.Process{Name: server}, Type: history.Event, F: f,
		Lock: lock, Key: key, Text: text,
	}
	if op > 0 {
		e.Op = history.Some(op)
	}
	if by > 0 {
		e.By = history.Some(by)
	}
	v.observer.Server(e)
}

// promotion is the event of a server that takes the place of another.
func promotion(server, last string) history.Entry {
	return history.Entry{Process: history.Process{Name: server}, Type: history.Event, F: history.Promote, Text: last}
}

// operator stands for the operation of a request that an operator sends, and no client of
// the run: its event has no "by", and the entry that it makes has no "op".
const operator = math.MinInt32

// unknown reports whether a request belongs to no operation, and is not an operator's.
func unknown(op int64) bool { return op <= 0 && op != operator }
