package locks

import (
	"context"
	"time"
)

// Host is the machine that one client runs on. Everything that a lock waits
// for, and everything that it draws at random, it asks of its Host or of the
// port of its store.
type Host interface {
	// Now is the wall clock. It may be wrong, and it may jump.
	Now() time.Time
	// Mono is the monotonic clock since some instant. It never jumps; it may
	// run fast or slow. It goes on while the client is paused.
	Mono() time.Duration
	// Left is how long it takes on Mono until ctx ends: nothing, once it has.
	// false: nobody knows when it will.
	Left(ctx context.Context) (time.Duration, bool)
	// Sleep waits for d. It returns early, with ctx's error, when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
	// Backoff waits between two tries of a loop, at random: at least for
	// shortest, and for less than spread longer. It ends as Sleep does. Nothing
	// may rest on how long it took: a search that knows order and no lengths
	// ends it whenever it likes.
	Backoff(ctx context.Context, shortest, spread time.Duration) error
	// Mark says that a task has come to the head of the loop called label, and
	// carries into this round nothing that it has learnt in earlier ones but
	// live. So a search can tell that a client that asks in vain stays where it
	// was; without it every round would be a new state.
	Mark(label string, live ...int64)
	// Rand draws evenly from 0 ≤ x < n. what names the draw ("backoff"), so
	// that a run can be repeated with this draw changed alone. n must be
	// positive; 0 has to be the least disturbing value.
	Rand(what string, n int64) int64
	// Unique is a string that no other call on any host returns.
	Unique() string

	// Go starts another task of the client. It runs when the others wait, is
	// paused and killed with them, and what it does belongs to the operation
	// that started it. Its context ends when it is stopped, or the client ends.
	Go(task func(ctx context.Context)) Task
	// Life is a context that ends with the client: for what has to be done when
	// a caller's own context has ended.
	Life() context.Context
	// Report tells what a task has learnt about the grant that the operation it
	// belongs to has got.
	Report(News)
}

// Task is a task of a client that runs beside others.
type Task interface {
	// Stop ends the task's context: its sleeps return early, and it sends
	// nothing more. It may still wait for the answer to what it has sent.
	Stop()
	// Wait returns when the task has ended.
	Wait()
}

// News is what a lock has learnt about one of its grants while nobody asked, or
// about its place in the queue.
type News struct {
	// Queued is one more than the position that the store gave to what the
	// operation waits with, which is before all greater ones; 0: this is no such
	// news. Positions of one lock compare with each other and with nothing else.
	Queued int64
	// Until is the instant, on Host.Mono, to which the grant was renewed; 0: it
	// is lost, and its client has been told.
	Until time.Duration
}
