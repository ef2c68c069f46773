package worker

import (
	"context"
	"math"
	"sync"
	"time"
)

// clock is the clocks of a client. The wall clock can be set wrong, and both
// can be made fast or slow; true time is this machine's.
type clock struct {
	start time.Time // of the worker: where both monotonic clocks begin

	mu      sync.Mutex
	skew    time.Duration // of the wall clock alone
	rate    float64       // what the clocks show for a second of true time
	at      time.Duration // when rate was set, in true time
	shown   time.Duration // what the monotonic clock showed then
	changed chan struct{} // closed when rate is set again
}

func newClock(start time.Time) *clock {
	return &clock{start: start, rate: 1, changed: make(chan struct{})}
}

// maxPPM bounds how much clocks may gain or lose, in parts per million.
const maxPPM = 900_000

// set makes the wall clock wrong by skew, and both clocks gain ppm parts per
// million from now on. Setting the rate makes neither jump: what they have
// gained so far stays. It tells whether the rate is another one now.
func (c *clock) set(skew time.Duration, ppm int64) (rated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew = skew
	rate := 1 + float64(ppm)/1e6
	if rate == c.rate {
		return false
	}
	now := c.elapsed()
	c.at, c.shown, c.rate = now, c.monoAt(now), rate
	close(c.changed)
	c.changed = make(chan struct{})
	return true
}

// elapsed is true time since the worker's start.
func (c *clock) elapsed() time.Duration { return time.Since(c.start) }

// monoAt is what the monotonic clock shows at a true time. It needs mu.
func (c *clock) monoAt(elapsed time.Duration) time.Duration {
	return c.shown + scale(elapsed-c.at, c.rate)
}

// mono is the client's monotonic clock.
func (c *clock) mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.monoAt(c.elapsed())
}

// now is its wall clock. It shows no monotonic time beside, which would
// take no part in a jump.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	elapsed := now.Sub(c.start)
	return now.Add(c.monoAt(elapsed) - elapsed + c.skew).Round(0)
}

// lasts is how long d by the client's clocks lasts in true time.
func (c *clock) lasts(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return scale(d, 1/c.rate)
}

// shows is how far the client's clocks get in a true time of d.
func (c *clock) shows(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return scale(d, c.rate)
}

// left is how much true time passes from now, an elapsed time, until the
// client's monotonic clock shows until: as it runs now.
func (c *clock) left(until time.Duration) (left, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.elapsed()
	return scale(until-c.monoAt(now), 1/c.rate), now
}

// sleep waits for d by the client's clocks, also if they are set meanwhile, or
// until ctx or life ends.
func (c *clock) sleep(ctx, life context.Context, d time.Duration) error {
	until := c.mono() + min(d, math.MaxInt64/2)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		left, _ := c.left(until)
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-life.Done():
			timer.Stop()
			return life.Err()
		case <-changed:
			timer.Stop()
		case <-timer.C:
			return ctx.Err() // both at once: the context's end comes first
		}
	}
}

// scale is d times by, within what a Duration can be.
func scale(d time.Duration, by float64) time.Duration {
	switch f := float64(d) * by; {
	case by == 1:
		return d
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return time.Duration(f)
	}
}
