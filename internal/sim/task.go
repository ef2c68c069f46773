package sim

import (
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// task is a coroutine. It runs a script of the harness, which steps onto its
// client's host for each operation and obeys that host's pauses there.
type task struct {
	sched  *scheduler
	script func() // nil for a lock's task
	client *host  // the client's host on which it is; nil: on the harness's
	coroutine
	serial int // number of scripts so far

	parked   bool
	resuming bool // it waits, and has resumed another task
	ended    bool
	begun    bool          // the script has begun
	ending   bool          // the run is over
	deadline time.Duration // wakes the parked task at the latest
	// queued are its next timers in the queue. Further timers find nothing to do.
	queued   [2]time.Duration
	answered bool        // woken by an answer, not by the deadline
	openWait openWait    // a wait that may end early if order decides
	outlasts outlastWait // of lingering

	// On a client's host:
	operation *operation // to which its requests belong
	access    env.Access
	err       error // why a wait ended without an answer
	reply     redis.Reply
	result    env.Answer  // from the guarded resource
	rows      mysql.Reply // from a MySQL server

	sleeping   bool        // in its host's Sleep: stopping the task wakes it
	background *background // set for a lock's task; nil for a script of the harness
}

// openWait is a kind of wait whose length is unspecified.
type openWait uint8

const (
	bound     openWait = iota // no such wait
	sleeping                  // of the harness, between two operations
	asking                    // of a client, between two tries
	lingering                 // of the harness, in Outlast
)

// outlastWait is what a lingering task waits for.
type outlastWait struct {
	passed int // order.passed when it began
	over   func() bool
}

// coroutine is what a task runs on: one script after another.
type coroutine struct {
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// unwindPanic is the value of a panic that ends a task: its client was killed, or the
// run is over.
type unwindPanic struct{}

// newTask returns a task that waits for a script.
func newTask(k *scheduler) *task {
	t := &task{sched: k}
	t.resume, t.stop = t.start, func() {}
	return t
}

// start makes the coroutine, and runs the first script. No coroutine exists before the
// run: it belongs to the bubble of its maker, if that is in one (testing/synctest).
func (t *task) start() (struct{}, bool) {
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		t.sched.current = t
		for {
			t.perform()
			if !t.yieldNow() {
				return
			}
		}
	})
	return t.resume()
}

// reset gives t its next script. t must be waiting for one.
func (t *task) reset(k *scheduler, script func()) {
	*t = task{
		sched: k, script: script, coroutine: t.coroutine, serial: t.serial + 1,
		parked: true, deadline: never, queued: [2]time.Duration{never, never},
	}
}

// unwind ends an unfinished script, so that the coroutine is free for another.
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

// perform runs the script until it ends or must end.
func (t *task) perform() {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unwindPanic:
			t.end()
		case crash:
			panic(p)
		default:
			panic(crash{p, debug.Stack()})
		}
	}()
	t.begun = true
	if t.background != nil {
		t.background.perform()
	} else {
		t.script()
	}
	t.end()
}

// crash is a panic on a coroutine with its stack. The resumer of the coroutine
// could not see the stack otherwise.
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
	t.sched.alive--
}

func (t *task) yieldNow() bool {
	t.sched.current = nil
	ok := t.yield(struct{}{})
	t.sched.current = t
	return ok
}

// park waits until the deadline or an answer, and reports whether an answer came.
// It reuses a queued timer that fires early enough: most waits end with an
// answer, so their deadlines are never checked.
func (t *task) park(deadline time.Duration) (answered bool) {
	t.parked, t.answered, t.deadline = true, false, deadline
	if t.sched.order == nil && deadline < t.queued[0] {
		t.wakeAt(deadline)
	}
	if k := t.sched; !(k.driven && k.drive(t)) && !t.yieldNow() { // the run is over
		t.ending = true // unwind may have set it, too
	}
	t.parked, t.openWait = false, bound
	if t.ending {
		panic(unwindPanic{})
	}
	return t.answered
}

// drive runs events until one wakes t, and returns true. It returns false when t
// must yield.
//
// The waiting task drives. The driver resumes a woken task: that is one switch of
// coroutines instead of two via Run, and none for a task that wakes itself. So a
// task may have resumed the one that resumed the driver. When it is woken, those
// above it yield. Run, with a nil t, is below them all: they yield to it when the
// run cannot go on.
func (k *scheduler) drive(t *task) bool {
	k.current = nil
	for k.alive > 0 && k.err == nil {
		switch next := k.woken; {
		case next == nil:
			k.step()
		case next == t:
			k.woken, k.current = nil, t
			return true
		case next.resuming:
			return false
		case t == nil:
			k.woken = nil
			next.resume()
		default:
			k.woken, t.resuming = nil, true
			next.resume()
			t.resuming = false
		}
	}
	return false
}

// wakeAt queues a timer.
func (t *task) wakeAt(at time.Duration) {
	t.deadline = at
	if o := t.sched.order; o != nil {
		o.ready = append(o.ready, t) // only a task itself sets a timer later than now
		return
	}
	t.queued = [2]time.Duration{at, t.queued[0]}
	t.sched.push(event{at: at, what: t})
}

// happen handles one of its timers.
func (t *task) happen() {
	for t.queued[0] <= t.sched.now {
		t.queued = [2]time.Duration{t.queued[1], never}
	}
	switch {
	case t.ended || !t.parked:
	case t.deadline <= t.sched.now:
		t.run()
	case t.deadline < t.queued[0]:
		t.wakeAt(t.deadline)
	}
}

// answer wakes the task because its answer has arrived.
func (t *task) answer() {
	t.answered = true
	t.run()
}

// run resumes the task, or notes that it may run when its client resumes.
func (t *task) run() {
	if c := t.client; c != nil && !c.dead && (c.paused || c.hung && t.background == nil) {
		c.runnable = append(c.runnable, t)
		return
	}
	if t.sched.driven {
		t.sched.woken = t
	} else {
		t.resume()
	}
}
