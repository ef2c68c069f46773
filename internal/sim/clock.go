package sim

import (
	"fmt"
	"math"
	"time"
)

// clock is how a host shows the time. The zero clock is right.
type clock struct {
	offset time.Duration // of the wall clock
	gains  time.Duration // in each T
	gain   float64       // how much faster than true time both clocks run: 0.01 is one per cent
	// At the true time since both clocks ran so, the monotonic one showed shown.
	since, shown time.Duration
}

// mono is the monotonic clock at a true time.
func (k *clock) mono(now time.Duration) time.Duration {
	if k.since == 0 && k.gain == 0 {
		return now
	}
	passed := now - k.since
	return k.shown + passed + time.Duration(math.Floor(float64(passed)*k.gain))
}

// wall is the wall clock then, since 1970.
func (k *clock) wall(now time.Duration) time.Duration { return epoch + k.offset + k.mono(now) }

// when is the first true time, not before the clock's last change, at which the
// monotonic clock shows mono.
func (k *clock) when(mono time.Duration) time.Duration {
	if k.since == 0 && k.gain == 0 {
		return mono
	}
	at := k.since + time.Duration(float64(mono-k.shown)/(1+k.gain))
	for k.mono(at) >= mono && at > 0 {
		at--
	}
	for k.mono(at) < mono {
		at++
	}
	return at
}

// lasts is how long a time of the clock's is.
func (k *clock) lasts(d time.Duration) time.Duration {
	if k.gain == 0 {
		return d
	}
	return time.Duration(float64(d) / (1 + k.gain))
}

// run lets both clocks gain so much more in each t from now on.
func (k *clock) run(now, gain, t time.Duration) {
	k.since, k.shown = now, k.mono(now)
	k.gains += gain
	k.gain = float64(k.gains) / float64(t)
}

// bears says why a clock cannot gain so much more.
func (k *clock) bears(gain, t time.Duration) error {
	if sum := k.gains + gain; sum <= -t/2 || sum > t {
		return fmt.Errorf("sim: a clock that gains %v in %v runs backwards, or too fast", sum, t)
	}
	return nil
}

// Jump moves a wall clock. A timer of a server that is in the queue for a time
// that is now too early finds nothing to expire, and puts in the next.
func (w *World) Jump(host string, by time.Duration) error {
	if c := w.find(host); c != nil {
		for _, m := range c.mates() {
			m.clock.offset += by
		}
		return nil
	}
	s, err := w.process(host)
	if err != nil {
		return err
	}
	s.clock.offset += by
	s.arm()
	return nil
}

// Rate lets clocks run faster or slower. What a client's leases last shows on
// its own clock, so from here on they end at other times.
func (w *World) Rate(host string, gain time.Duration) error {
	if c := w.find(host); c != nil {
		if err := c.clock.bears(gain, w.cfg.Lease); err != nil {
			return err
		}
		for _, m := range c.mates() {
			m.clock.run(w.now, gain, w.cfg.Lease)
			m.revalue()
		}
		return nil
	}
	s, err := w.process(host)
	if err == nil {
		err = s.clock.bears(gain, w.cfg.Lease)
	}
	if err != nil {
		return err
	}
	s.clock.run(w.now, gain, w.cfg.Lease)
	s.arm()
	return nil
}
