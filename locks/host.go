package locks

import (
	"context"
	"time"
)

// Host is the machine of one client. A lock gets all its waits, times and random
// numbers from its Host or from the port of its store.
type Host interface {
	// Now returns the wall clock. It may be wrong, and it may jump.
	Now() time.Time
	// Mono returns the monotonic clock since some instant. It never jumps; it may
	// run fast or slow. It goes on while the client is paused.
	Mono() time.Duration
	// Left returns the time on Mono until ctx ends: 0 once it has ended. It
	// returns false if the end is unknown.
	Left(ctx context.Context) (time.Duration, bool)
	// Sleep waits for d. It returns early, with ctx's error, when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
	// Backoff waits for a random time between two tries of a loop: at least for
	// shortest, and less than spread longer. It ends early like Sleep. A lock
	// must not depend on the length of the wait: a search in which only order
	// counts ends it at any time.
	Backoff(ctx context.Context, shortest, spread time.Duration) error
	// Mark marks the beginning of a round of the loop called label. The task
	// keeps nothing of earlier rounds except live. So a search recognises that a
	// client that retries without success is in the same state. Without Mark
	// every round would be a new state.
	Mark(label string, live ...int64)
	// Rand draws evenly from 0 ≤ x < n. what names the draw, such as "backoff",
	// so that a run can be repeated with only this draw changed. n must be
	// positive. 0 must be the least disturbing value.
	Rand(what string, n int64) int64
	// Unique returns a string that no other call on any host returns.
	Unique() string

	// Go starts another task of the client. It runs while the others wait, and is
	// paused and killed with them. Its requests belong to the operation that
	// started it. Its context ends when the task is stopped or the client ends.
	Go(task func(ctx context.Context)) Task
	// Life returns a context that ends with the client, for work after the end of
	// a caller's context.
	Life() context.Context
	// Report passes on a task's news of the grant of its operation.
	Report(News)
}

// Task is a task that runs in parallel with the client's other tasks.
type Task interface {
	// Stop ends the task's context: its sleeps return early, and it sends nothing
	// requests. It may still wait for the answer to the last one.
	Stop()
	// Wait returns when the task has ended.
	Wait()
}

// News is news of a grant, or of a place in the queue, that a lock learns by
// itself.
type News struct {
	// Queued is 1 plus the position in the store's queue of the waiting
	// operation; 0: no such news. Smaller positions come first. Only positions of
	// one lock can be compared.
	Queued int64
	// Until is the instant, on Host.Mono, to which the grant was renewed; 0: the
	// grant is lost, and its client has been notified.
	Until time.Duration
}
