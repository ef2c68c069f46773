// Package locks is the contract between a lock and its callers.
//
// A lock is made for one client, as a Locker. It waits only in its Host and in
// the port of its store. Exactly one task of a client runs at a time, so lock
// code needs no mutex, and a pause stops all of it.
package locks

import (
	"context"
	"errors"
	"time"
)

// Locker is one client's handle on a lock.
type Locker interface {
	// Acquire waits until name is granted or ctx ends. After ErrNotAcquired and
	// definite errors it was not granted; after any other error it may have been.
	Acquire(ctx context.Context, name string) (Lease, error)
	// Close frees the Locker's own resources. Leases remain.
	Close(ctx context.Context) error
}

// Lease is one grant.
type Lease interface {
	// Release releases the grant. ErrNotHeld: there was no grant to release.
	// After an error that is not definite it may have been released.
	Release(ctx context.Context) error
}

// Deadliner is a Lease with a known end.
type Deadliner interface {
	// Until returns the instant, on Host.Mono, up to which the client may believe
	// that it holds; 0: unknown.
	Until() time.Duration
}

// Fencer is a Lease with a fencing token.
type Fencer interface {
	// Token returns a number that grows with every grant of the lock; 0: none.
	Token() uint64
}

// Runner is a Locker that calls the critical section itself: possibly more than
// once, and possibly from two tasks at the same time. Each call is a grant.
type Runner interface {
	// Run waits until name is granted or ctx ends. It calls critical with the
	// grant and releases the grant when critical returns, so critical must not
	// release it. The context of critical ends with the client, not with ctx,
	// which only ends the wait. Run returns when no call of critical is running.
	//
	// After ErrNotAcquired and definite errors critical was not called and never
	// will be. ErrNotHeld and ErrLost may come after a call, too: there was no
	// grant to release at its end. After any other error a request of this client
	// may remain in the store. The caller of Run knows how often critical was
	// called.
	Run(ctx context.Context, name string, critical func(context.Context, Lease)) error
}

// TryLocker is a Locker that can also ask without a wait.
type TryLocker interface {
	// CanTry reports whether it can, as far as is known.
	CanTry() bool
	// TryAcquire is Acquire, but returns ErrNotAcquired at once if somebody else holds
	// the lock.
	TryAcquire(ctx context.Context, name string) (Lease, error)
}

// Extender is a Lease that its holder can make longer.
type Extender interface {
	// CanExtend reports whether it can.
	CanExtend() bool
	// Extend makes the lease last as long as a new one, from now on. The errors are those
	// of Release.
	Extend(ctx context.Context) error
}

// NameReleaser is a Locker that can release by name, whoever holds the lock.
// Callers do this if they unlock in a finally block, even after a failed acquire.
type NameReleaser interface {
	// ReleaseName releases name like the lock's release. Its errors are those of
	// Lease.Release. After nil there is no entry for name.
	ReleaseName(ctx context.Context, name string) error
}

// UnfairLocker is a Locker with a fair order whose callers may also request a
// grant out of turn.
type UnfairLocker interface {
	// AcquireUnfair is Acquire for a caller that does not queue.
	AcquireUnfair(ctx context.Context, name string) (Lease, error)
}

// After these errors the outcome is certain. After any other error, unless it is
// Definite, it is unknown whether the operation took effect.
var (
	// ErrNotAcquired: a wait has ended, every request has an answer, and the
	// client has no entry in the store.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld: the client had no grant.
	ErrNotHeld = errors.New("lock not held")
	// ErrLost: the client had the grant and has lost it.
	ErrLost = errors.New("lock lost")
)

// Definite marks err as certain: the operation did not take effect, and never
// will.
func Definite(err error) error { return definite{err} }

type definite struct{ error }

func (d definite) Unwrap() error { return d.error }

// IsDefinite reports whether err is certain that the operation had no effect.
func IsDefinite(err error) bool {
	_, ok := errors.AsType[definite](err)
	return ok || errors.Is(err, ErrNotAcquired) ||
		errors.Is(err, ErrNotHeld) || errors.Is(err, ErrLost)
}
