package bubbletest

import (
	"context"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// lock is a Lock as environments see it.
type lock struct {
	Lock
	site userlock.Site
}

func (l *lock) Acquire(ctx context.Context, name string) (userlock.Grant, error) {
	for {
		release, err := l.Lock.Acquire(ctx, name)
		if !errors.Is(err, ErrTaken) {
			return &grant{release: release}, err
		}
		select {
		case <-ctx.Done():
			return nil, locks.ErrNotAcquired
		case <-time.After(3 * l.site.Lease() / 100): // as in a test
		}
	}
}

func (l *lock) Try(context.Context, string) (userlock.Grant, error) { panic("CanTry is false") }
func (l *lock) CanTry() bool                                        { return false }

func (l *lock) Close() error {
	l.Lock.Close()
	return nil
}

// grant is what a Lock got.
type grant struct{ release func(context.Context) error }

func (g *grant) Release(ctx context.Context) error { return g.release(ctx) }
func (g *grant) Extend(context.Context) error      { panic("CanExtend is false") }
func (g *grant) CanExtend() bool                   { return false }
func (g *grant) Until() time.Time                  { return time.Time{} }
func (g *grant) Token() uint64                     { return 0 }
func (g *grant) Lost() <-chan struct{}             { return nil }
