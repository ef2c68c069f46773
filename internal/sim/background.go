package sim

import (
	"context"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/locks"
)

// background is a task that a lock has started on its client's host. It is also
// the task's context, which ends when the task is stopped.
type background struct {
	task    *task // a task that has ended may serve another script
	script  func(context.Context)
	stopped bool
	ended   bool
	waiters []waiter
}

// waiter is a waiting task. Its serial shows if it serves another script by now.
type waiter struct {
	task   *task
	serial int
}

// Go starts a task of the client. It runs as soon as the running task waits.
func (h *host) Go(f func(context.Context)) locks.Task {
	h.mustLive()
	b := h.backgrounds.next()
	*b = background{script: f, waiters: b.waiters[:0]}
	b.task = h.sched.begin(nil)
	b.task.client, b.task.operation, b.task.background = h, h.sched.current.operation, b
	return b
}

// perform runs its script.
func (b *background) perform() {
	b.task.client.mustLive()
	b.script(b)
}

// Stop ends the task's context and wakes the task if it sleeps.
func (b *background) Stop() {
	if b.stopped || b.ended {
		return
	}
	b.stopped = true
	if t := b.task; t.sleeping && t.parked {
		t.wakeAt(t.sched.now)
	}
}

// Wait returns when the task has ended.
func (b *background) Wait() {
	for !b.ended {
		t := b.task.sched.current
		b.waiters = append(b.waiters, waiter{t, t.serial})
		t.client.park(never)
	}
}

// end wakes the tasks that wait for this one. Its coroutine is then free.
func (b *background) end() {
	b.ended = true
	for _, x := range b.waiters {
		if x.task.serial == x.serial && !x.task.ended {
			x.task.wakeAt(x.task.sched.now)
		}
	}
	if b.task.ending {
		return // with the run
	}
	k := b.task.sched
	k.tasks = slices.DeleteFunc(k.tasks, func(t *task) bool { return t == b.task })
	k.idle = append(k.idle, b.task)
}

// Deadline returns no time: the context ends only when the task is stopped.
func (b *background) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns nil: only host and port wait, and they know when the context ends.
func (b *background) Done() <-chan struct{} { return nil }

// Err returns context.Canceled once the task is stopped.
func (b *background) Err() error {
	if b.stopped {
		return context.Canceled
	}
	return nil
}

// Value lets endOf find b below other contexts.
func (b *background) Value(key any) any {
	if _, ok := key.(endKey); ok {
		return endingContext(b)
	}
	return nil
}

// at returns when the context ends, as far as is known now.
func (b *background) at() time.Duration {
	if b.stopped {
		return stoppedEnd
	}
	return never
}

// Life returns a context that never ends: no code of a dead client runs.
func (h *host) Life() context.Context { return context.Background() }

// Report passes on news of the running operation's grant, or of its place in the
// queue.
func (h *host) Report(n locks.News) {
	o := h.sched.current.operation
	if o.kind != history.Acquire {
		return
	}
	e := history.Entry{Client: h.name, F: history.Valid, Lock: o.Lock, Op: history.Some(int64(o.Index)), ValidUntil: h.trueTime(n.Until)}
	switch {
	case n.Queued != 0:
		e.F, e.Value = history.Queued, history.Some(n.Queued-1)
	case n.Until == 0:
		e.F = history.Lost
	}
	h.sched.observer.Report(e)
}
