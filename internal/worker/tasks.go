package worker

import (
	"context"
	"sync"

	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

// baton makes exactly one of a client's tasks run at a time. A task holds it, except
// while it waits in its host or in the port of its store.
type baton struct {
	mu   sync.Mutex
	task *task // the holder
}

func (b *baton) take(t *task) {
	b.mu.Lock()
	b.task = t
}

func (b *baton) give() {
	b.task = nil
	b.mu.Unlock()
}

// away lets other tasks run during wait.
func (b *baton) away(wait func()) {
	t := b.task
	b.give()
	defer b.take(t)
	wait()
}

// operation is an operation of the harness. Its tasks hold the baton while they use it.
type operation struct {
	name     string
	lock     string
	run      int64     // the run that it belongs to; 0: none
	armed    []Request // points
	requests int       // sent so far, by all its tasks
	answers  int       // that came so far
	answered int       // number of the request that was answered last
	sent     string    // its command
	over     bool      // it was answered: later requests of its tasks have no number
	grant    *grant    // what it got
	news     []locks.News
}

// task is a task of a client.
type task struct {
	client *client
	op     *operation         // the operation that it performs, or that started it
	caller redisclient.Caller // lets its Wait use the connection of its write
	stop   context.CancelFunc
	done   chan struct{}
}

// start starts a task beside the running one, for the same operation.
func (c *client) start(run func(context.Context)) *task {
	ctx, stop := context.WithCancel(c.server.life)
	t := &task{client: c, op: c.task.op, stop: stop, done: make(chan struct{})}
	c.server.running.Go(func() {
		defer close(t.done)
		defer stop()
		t.run(func() { run(ctx) })
	})
	return t
}

// run runs f as t.
func (t *task) run(f func()) {
	defer t.caller.Close()
	t.client.take(t)
	defer t.client.give()
	f()
}

// Stop ends the task's context.
func (t *task) Stop() { t.stop() }

// Wait returns when the task has ended.
func (t *task) Wait() { t.client.away(func() { <-t.done }) }
