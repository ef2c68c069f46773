package worker

import (
	"context"
	"math"
	"sync"
	"time"
)

// clock holds the clocks of a client. The wall clock can be set wrong, and both can be
// made fast or slow. True time is that of this machine.
type clock struct {
	start time.Time // start of the worker, and zero of both monotonic clocks

	mu      sync.Mutex
	skew    time.Duration // of the wall clock alone
	rate    float64       // seconds that the clocks gain in a second of true time
	at      time.Duration // when rate was set, in true time
	shown   time.Duration // the monotonic clock at that moment
	changed chan struct{} // closed when rate changes
}

func newClock(start time.Time) *clock {
	return &clock{start: start, rate: 1, changed: make(chan struct{})}
}

// maxPPM bounds how much clocks may gain or lose, in parts per million.
const maxPPM = 900_000

// set makes the wall clock wrong by skew, and both clocks gain ppm parts per million
// from now on. A new rate makes neither clock jump: what they have gained so far stays.
// It reports whether the rate has changed.
func (c *clock) set(skew time.Duration, ppm int64) (changed bool) {
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

// elapsed returns the true time since the worker's start.
func (c *clock) elapsed() time.Duration { return time.Since(c.start) }

// monoAt returns the monotonic clock at a true time. The caller holds mu.
func (c *clock) monoAt(elapsed time.Duration) time.Duration {
	return c.shown + scale(elapsed-c.at, c.rate)
}

// mono returns the client's monotonic clock.
func (c *clock) mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.monoAt(c.elapsed())
}

// now returns the client's wall clock, without Go's monotonic reading, which would not
// jump.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	elapsed := now.Sub(c.start)
	return now.Add(c.monoAt(elapsed) - elapsed + c.skew).Round(0)
}

// trueTime converts a duration on the client's clocks to true time.
func (c *clock) trueTime(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return scale(d, 1/c.rate)
}

// clientTime converts a true duration to the client's clocks.
func (c *clock) clientTime(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return scale(d, c.rate)
}

// left returns the true time that remains until the client's monotonic clock shows
// until at its present rate, and the elapsed time now.
func (c *clock) left(until time.Duration) (left, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.elapsed()
	return scale(until-c.monoAt(now), 1/c.rate), now
}

// sleep waits for d on the client's clocks, also if they are set meanwhile, or until
// ctx or life ends.
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
			return ctx.Err() // if both are ready, the context's end wins
		}
	}
}

// scale returns d times by, within the range of a Duration.
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
