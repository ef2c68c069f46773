// Package lockstest is a simulated environment for the tests of locks: hosts and
// their tasks. The tasks run one at a time in the order of virtual time, while
// the test waits.
package lockstest

import (
	"context"
	"iter"
	"math"
	"slices"
	"testing"
	"time"
)

// Never is a time that never comes.
const Never = time.Duration(math.MaxInt64)

// Desk is the environment.
type Desk struct {
	T       *testing.T
	Time    time.Duration
	Running *Task    // nil: the test itself
	Log     []string // the test's own notes of events

	tasks []*Task
	hosts int
}

// New returns a desk without hosts. Its tasks end with the test.
func New(t *testing.T) *Desk {
	d := &Desk{T: t}
	t.Cleanup(func() {
		for _, k := range d.tasks {
			k.kill()
		}
	})
	return d
}

// Task is a coroutine, and a locks.Task.
type Task struct {
	Wake   time.Duration
	Asleep bool // in Sleep, not waiting for an answer
	Done   bool

	host   *Host
	awaits *Task
	cancel context.CancelFunc
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// Ended is the panic value that unwinds a task.
type Ended struct{}

// Start starts a task on the host.
func (h *Host) Start(body func(context.Context)) *Task {
	ctx, cancel := context.WithCancel(h.life)
	k := &Task{host: h, Wake: h.desk.Time, cancel: cancel}
	k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != (Ended{}) {
				panic(r)
			}
		}()
		k.yield = yield
		body(ctx)
	})
	h.desk.tasks = append(h.desk.tasks, k)
	return k
}

func (k *Task) kill() {
	k.cancel()
	k.stop()
	k.Done = true
}

// Stop ends the task's context and its sleep.
func (k *Task) Stop() {
	k.cancel()
	if k.Asleep {
		k.Wake = k.host.desk.Time
	}
}

// Wait returns when the task has ended.
func (k *Task) Wait() {
	d := k.host.desk
	if own := d.Running; own != nil && !k.Done {
		own.awaits = k
		d.Pass(Never)
	}
	for !k.Done {
		if !d.step(Never) {
			d.T.Fatal("the task does not end")
		}
	}
}

// Pass makes the caller wait until then, while other tasks run.
func (d *Desk) Pass(until time.Duration) {
	if k := d.Running; k != nil {
		k.Wake = until
		if k.host.dead || !k.yield(struct{}{}) {
			panic(Ended{})
		}
		k.Asleep = false
		return
	}
	for d.step(until) {
	}
	d.Time = max(d.Time, until)
}

// step runs the first task that is due by until, and reports whether there was
// one.
func (d *Desk) step(until time.Duration) bool {
	var first *Task
	for _, k := range d.tasks {
		if !k.Done && !k.host.Away && k.Wake <= until && k.Wake != Never && (first == nil || k.Wake < first.Wake) {
			first = k
		}
	}
	if first == nil {
		return false
	}
	d.Time = max(d.Time, first.Wake)
	d.Running = first
	_, more := first.next()
	d.Running, first.Done = nil, !more
	for _, k := range d.tasks {
		if first.Done && k.awaits == first {
			k.awaits, k.Wake = nil, d.Time
		}
	}
	return true
}

// Story asserts that exactly these lines were logged.
func (d *Desk) Story(want ...string) {
	d.T.Helper()
	if !slices.Equal(d.Log, want) {
		d.T.Errorf("%q, want %q", d.Log, want)
	}
}
