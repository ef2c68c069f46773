package sim

import (
	"fmt"
	"math"
	"time"
)

// epoch is what a correct wall clock shows when a run begins. Any date works if a
// clock that is set back stays above zero.
const epoch = 1_700_000_000 * time.Second

// Epoch returns what a correct wall clock shows when a run begins.
func Epoch() time.Time { return time.Unix(0, int64(epoch)) }

// clock is how a host sees the time. The zero clock is right.
type clock struct {
	offset time.Duration // of the wall clock from the right time
	gains  time.Duration // in each T
	gain   float64       // how much faster than true time both clocks run: 0.01 is one per cent
	// The monotonic clock showed shown at the true time since, when gain last
	// changed.
	since, shown time.Duration
}

// mono returns the monotonic clock's reading at a true time.
func (k *clock) mono(now time.Duration) time.Duration {
	if k.since == 0 && k.gain == 0 {
		return now
	}
	passed := now - k.since
	return k.shown + passed + time.Duration(math.Floor(float64(passed)*k.gain))
}

// wall returns the wall clock's reading then, since 1970.
func (k *clock) wall(now time.Duration) time.Duration { return epoch + k.offset + k.mono(now) }

// when returns the first true time at which the monotonic clock shows mono, not
// before the clock's last change.
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

// trueDuration converts a duration on this clock to true time.
func (k *clock) trueDuration(d time.Duration) time.Duration {
	if k.gain == 0 {
		return d
	}
	return time.Duration(float64(d) / (1 + k.gain))
}

// addGain makes both clocks gain this much more in each t from now on.
func (k *clock) addGain(now, gain, t time.Duration) {
	k.since, k.shown = now, k.mono(now)
	k.gains += gain
	k.gain = float64(k.gains) / float64(t)
}

// checkGain returns an error if a clock cannot gain this much more.
func (k *clock) checkGain(gain, t time.Duration) error {
	if sum := k.gains + gain; sum <= -t/2 || sum > t {
		return fmt.Errorf("sim: a clock that gains %v in %v runs backwards, or too fast", sum, t)
	}
	return nil
}
