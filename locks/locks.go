// Package locks is the contract between a lock and whoever runs it.
//
// A lock is made for one client: a Locker. It blocks only in its Host and in
// the port of its store; of one client's tasks exactly one runs at a time, so
// lock code needs no mutex, and a pause stops all of it.
package locks

import (
	"context"
	"errors"
	"time"
)

// Locker is one client's handle on a kind of lock.
type Locker interface {
	// Acquire waits until name is granted, or ctx ends. ErrNotAcquired and
	// definite errors mean that it was not; after any other error it may have been.
	Acquire(ctx context.Context, name string) (Lease, error)
	// Close lets go of what the Locker itself holds, not of its leases.
	Close(ctx context.Context) error
}

// Lease is one grant.
type Lease interface {
	// Release gives the grant back. ErrNotHeld: there was nothing to give
	// back. After an error that is not definite it may have been given back.
	Release(ctx context.Context) error
}

// Deadliner is a Lease that knows how long it lasts.
type Deadliner interface {
	// Until is the instant, on Host.Mono, up to which the client may believe
	// that it holds; 0: it says nothing.
	Until() time.Duration
}

// Fencer is a Lease with a fencing token.
type Fencer interface {
	// Token grows with every grant of the lock; 0: none.
	Token() uint64
}

// Runner is a Locker that calls the critical section itself: perhaps more than
// once, perhaps from two tasks at the same time. Each entry is a grant.
type Runner interface {
	// Run waits until name is granted, or ctx ends, calls critical with the
	// grant, and gives the grant back when critical returns. So critical does
	// not release it. What it is called with ends with the client, not with
	// ctx, which only ends the wait. Run returns when no call is left that runs.
	//
	// ErrNotAcquired and definite errors mean that critical was not entered,
	// and never will be. ErrNotHeld and ErrLost may come after an entry, too:
	// at its end there was nothing to give back. After any other error a
	// request of ours may stand in the store; who calls Run knows how often
	// critical was entered.
	Run(ctx context.Context, name string, critical func(context.Context, Lease)) error
}

// NameReleaser is a Locker that releases by name, whoever holds: what a caller
// does that unlocks in a finally, also when it was refused.
type NameReleaser interface {
	// ReleaseName releases name as the lock's release does. Its errors are those
	// of Lease.Release; nil says that what stood there, if anything did, is gone.
	ReleaseName(ctx context.Context, name string) error
}

// UnfairLocker is a Locker that promises order, and whose callers may also ask
// to be granted out of turn.
type UnfairLocker interface {
	// AcquireUnfair is Acquire for a caller that does not queue.
	AcquireUnfair(ctx context.Context, name string) (Lease, error)
}

// What is certain. Every other error, unless it is Definite, leaves open
// whether the operation took effect.
var (
	// ErrNotAcquired: a wait ended with every request answered and nothing of
	// ours left in the store.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld: there was no grant of ours to act on.
	ErrNotHeld = errors.New("lock not held")
	// ErrLost: the grant was ours, and is no longer.
	ErrLost = errors.New("lock lost")
)

// Definite marks err: the operation did not take effect, and never will.
func Definite(err error) error { return definite{err} }

type definite struct{ error }

func (d definite) Unwrap() error { return d.error }

// IsDefinite tells whether err says for certain that nothing took effect.
func IsDefinite(err error) bool {
	_, ok := errors.AsType[definite](err)
	return ok || errors.Is(err, ErrNotAcquired) ||
		errors.Is(err, ErrNotHeld) || errors.Is(err, ErrLost)
}
