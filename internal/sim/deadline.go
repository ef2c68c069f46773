package sim

import (
	"context"
	"time"
)

// deadline is a context that ends at a virtual time. Nothing can wait for it on a
// channel: only host and port wait, and they know the time.
type deadline struct {
	host *host
	end  time.Duration
}

// Deadline returns a virtual time, which means nothing to real clocks.
func (d *deadline) Deadline() (time.Time, bool) { return time.Unix(0, int64(epoch+d.end)), true }

// Done returns nil: see deadline.
func (d *deadline) Done() <-chan struct{} { return nil }

// Err returns the context's error, or nil before the deadline.
func (d *deadline) Err() error { return d.host.contextErr(d.end) }

// Value lets endOf find d below other contexts.
func (d *deadline) Value(key any) any {
	if _, ok := key.(endKey); ok {
		return endingContext(d)
	}
	return nil
}

func (d *deadline) at() time.Duration { return d.end }

// endingContext is a context of this package: it knows when it ends, in virtual time.
type endingContext interface{ at() time.Duration }

type endKey struct{}

// stoppedEnd is the end of a stopped context.
const stoppedEnd time.Duration = -1

// endOf returns the virtual time at which ctx ends.
func endOf(ctx context.Context) time.Duration {
	if d, ok := ctx.(*deadline); ok { // as mostly; this is faster
		return d.end
	}
	if e, ok := ctx.Value(endKey{}).(endingContext); ok {
		return e.at()
	}
	return never
}
