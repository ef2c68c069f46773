package sim

import (
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/stores/mysql"
	"github.com/lockcheck/lockcheck/stores/redis"
)

// task is a coroutine: a script of the harness, which steps onto its client's
// host for each operation and obeys that host's pauses while it is there.
type task struct {
	world  *World
	script func()
	client *client // on whose host it is; nil: on the harness's
	coroutine
	serial int // of its scripts

	parked   bool
	resuming bool // it waits, and has resumed another one
	ended    bool
	begun    bool          // the script has
	ending   bool          // the run is over
	deadline time.Duration // wakes the parked task at the latest
	// queued are the next timers of its that are in the queue. There may be
	// more, which will find nothing to do.
	queued   [2]time.Duration
	answered bool // woken by an answer, not by the deadline
	free     free // what may end early, where order decides
	outlasts outlasting

	// On a client's host:
	operation *operation // that it belongs to
	access    env.Access
	err       error // why the wait for an answer ended without one
	reply     redis.Reply
	result    env.Answer  // the guarded resource's
	rows      mysql.Reply // a MySQL server's

	sleeping   bool        // in its host: who stops it wakes it
	background *background // what it is beside a script; nil: a script of the harness
}

// free is a wait whose length means nothing.
type free uint8

const (
	bound     free = iota // none
	sleeping              // of the harness, between two operations
	asking                // of a client, between two tries
	lingering             // of the harness, in Outlast
)

// coroutine is what a task runs on: one script after another.
type coroutine struct {
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// unwound is what a task panics with when it has to end: its client was
// killed, or the run is over.
type unwound struct{}

// newTask is a task that waits for a script.
func newTask(w *World) *task {
	t := &task{world: w}
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		for t.yieldNow() {
			t.perform()
		}
	})
	t.resume() // to the first yield
	return t
}

// reset gives t, which waits for a script, the next one.
func (t *task) reset(w *World, script func()) {
	*t = task{
		world: w, script: script, coroutine: t.coroutine, serial: t.serial + 1,
		parked: true, deadline: never, queued: [2]time.Duration{never, never},
	}
}

// unwind ends a script that has not ended, so that the coroutine is free for another.
func (t *task) unwind() {
	switch {
	case t.ended:
	case t.begun:
		t.ending = true
		t.resume()
	default:
		t.ended = true
	}
}

// perform goes through the script, until it ends or has to.
func (t *task) perform() {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unwound:
			t.end()
		case crash:
			panic(p)
		default:
			panic(crash{p, debug.Stack()})
		}
	}()
	t.begun = true
	t.script()
	t.end()
}

// crash is a panic on a coroutine, with the stack, which whoever resumed the
// coroutine would not see.
type crash struct {
	value any
	stack []byte
}

func (c crash) String() string { return fmt.Sprintf("%v\n%s", c.value, c.stack) }

func (t *task) end() {
	t.ended = true
	if t.background != nil {
		t.background.end()
		return
	}
	t.world.alive--
}

func (t *task) yieldNow() bool {
	t.world.current = nil
	ok := t.yield(struct{}{})
	t.world.current = t
	return ok
}

// park waits until the deadline or an answer, and tells which it was. A timer
// that is in the queue already and comes no later is used again: most waits
// end with an answer, and their deadlines are never looked at.
func (t *task) park(deadline time.Duration) (answered bool) {
	t.parked, t.answered, t.deadline = true, false, deadline
	if t.world.order == nil && deadline < t.queued[0] {
		t.wakeAt(deadline)
	}
	t.ending = t.ending || !t.wait()
	t.parked, t.free = false, bound
	if t.ending {
		panic(unwound{})
	}
	return t.answered
}

// wait returns when it is t's turn, or false: the run is over.
func (t *task) wait() bool {
	if t.world.driven && t.world.drive(t) {
		return true
	}
	return t.yieldNow()
}

// drive lets events happen until one wakes t, and returns true; or until t has
// to yield.
//
// Who waits drives. A task that is woken is resumed by the one that drives: that
// is one switch of coroutines, where there are two by way of Run, and none for
// who is woken by itself. So a task may have resumed the one that resumed the one
// that drives. When it is woken, those above it yield. Run, with t nil, is below
// them all, and they yield to it too when the run cannot go on.
func (w *World) drive(t *task) bool {
	w.current = nil
	for w.alive > 0 && w.err == nil {
		switch next := w.woken; {
		case next == nil:
			w.step()
		case next == t:
			w.woken, w.current = nil, t
			return true
		case next.resuming:
			return false
		case t == nil:
			w.woken = nil
			next.resume()
		default:
			w.woken, t.resuming = nil, true
			next.resume()
			t.resuming = false
		}
	}
	return false
}

// wakeAt puts a timer into the queue.
func (t *task) wakeAt(at time.Duration) {
	t.deadline = at
	if o := t.world.order; o != nil {
		o.ready = append(o.ready, t) // nobody wakes a task later than now but itself
		return
	}
	t.queued = [2]time.Duration{at, t.queued[0]}
	t.world.push(event{at: at, what: t})
}

// happen is one of its timers.
func (t *task) happen(w *World) {
	for t.queued[0] <= w.now {
		t.queued = [2]time.Duration{t.queued[1], never}
	}
	switch {
	case t.ended || !t.parked:
	case t.deadline <= w.now:
		t.run()
	case t.deadline < t.queued[0]:
		t.wakeAt(t.deadline)
	}
}

// answer wakes the task because what it waits for has arrived.
func (t *task) answer() {
	t.answered = true
	t.run()
}

// run resumes the task, or notes that it may run once its client does.
func (t *task) run() {
	if c := t.client; c != nil && !c.dead && (c.paused || c.hung && t.background == nil) {
		c.runnable = append(c.runnable, t)
		return
	}
	if t.world.driven {
		t.world.woken = t
	} else {
		t.resume()
	}
}
