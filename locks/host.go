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
	// Rand draws evenly from 0 ≤ x < n. what names the draw ("backoff"), so
	// that a run can be repeated with this draw changed alone. n must be
	// positive; 0 has to be the least disturbing value.
	Rand(what string, n int64) int64
	// Unique is a string that no other call on any host returns.
	Unique() string
}
