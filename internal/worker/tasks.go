package worker

import (
	"context"
	"sync"

	redisclient "github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

// baton sees to it that of one client's tasks exactly one runs: a task holds it
// all the time but for its waits, in its host and in the port of its store.
type baton struct {
	mu   sync.Mutex
	task *task // who holds it
}

func (b *baton) take(t *task) {
	b.mu.Lock()
	b.task = t
}

func (b *baton) give() {
	b.task = nil
	b.mu.Unlock()
}

// away lets other tasks run while wait does.
func (b *baton) away(wait func()) {
	t := b.task
	b.give()
	defer b.take(t)
	wait()
}

// operation is one that the harness has asked for. Its tasks hold the baton
// while they look at it.
type operation struct {
	name     string
	lock     string
	run      int64     // that it is part of; 0: none
	armed    []Request // points
	requests int       // sent so far, by all its tasks
	answered int       // number of the request that was answered last
	sent     string    // its command
	over     bool      // it has been answered: what its tasks do counts no more
	grant    *grant    // that it got
	news     []locks.News
}

// task is one of a client's.
type task struct {
	client *client
	op     *operation         // that it is, or that it was started in
	caller redisclient.Caller // so that a Wait of its finds the connection of its write
	stop   context.CancelFunc
	done   chan struct{}
}

// start starts a task beside the one that runs, for the same operation.
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
