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
}
