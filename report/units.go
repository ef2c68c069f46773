package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// units say how times are written: seconds, or milliseconds where leases are short.
type units struct{ ms bool }

// shortLease is the longest lease whose times are in milliseconds.
const shortLease = 2 * time.Second

func newUnits(lease time.Duration) units { return units{ms: lease > 0 && lease <= shortLease} }

// at returns a time within a sentence: "10.01 s".
func (u units) at(t time.Duration) string {
	if u.ms {
		return fmt.Sprintf("%.0f ms", millis(t))
	}
	if t < 100*time.Millisecond {
		return u.exact(t)
	}
	return fmt.Sprintf("%.2f s", t.Seconds())
}

// exact returns a time in the list of moments: "10.011 s".
func (u units) exact(t time.Duration) string {
	if u.ms {
		return fmt.Sprintf("%.1f ms", millis(t))
	}
	return fmt.Sprintf("%.3f s", t.Seconds())
}

// span returns a length of time: "12 s", "0.25 s", "15.60 s", "8 ms".
func (u units) span(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	if u.ms || d < 95*time.Millisecond {
		return fmt.Sprintf("%.0f ms", millis(d))
	}
	return brief(d)
}

// brief returns seconds without a fraction, or as a sentence has instants: "15.60 s".
func brief(d time.Duration) string {
	return strings.Replace(fmt.Sprintf("%.2f s", d.Seconds()), ".00", "", 1)
}

// spans returns a range of lengths of time.
func (u units) spans(from, to time.Duration) string {
	if u.span(from) == u.span(to) {
		return u.span(from)
	}
	return u.span(from) + " to " + u.span(to)
}

// tick returns a label of the axis, whose ticks are step apart.
func (u units) tick(t, step time.Duration) string {
	if u.ms || step < 10*time.Millisecond {
		return strconv.FormatFloat(millis(t), 'f', -1, 64) + " ms"
	}
	return brief(t)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
