package report

import (
	"math"
	"math/bits"
	"time"
)

// axis maps times to columns, linearly: the picture is true to scale. Distances
// between times are uint64, which holds the distance of any two times.
type axis struct{ from, to time.Duration }

// The columns of an axis.
const (
	laneLeft = 15 // the first
	laneCols = columns - laneLeft
)

func newAxis(from, to time.Duration) axis {
	pad := max(time.Duration(apart(from, to)/40), time.Millisecond)
	if from >= 0 {
		from = max(from-pad, 0)
	} else if from > math.MinInt64+pad {
		from -= pad
	}
	if to < math.MaxInt64-pad {
		to += pad
	} else {
		to = math.MaxInt64
	}
	return axis{from, to}
}

// apart returns the distance from a time to a later one.
func apart(from, to time.Duration) uint64 { return uint64(to) - uint64(from) }

// col returns the column of a time. Times outside the axis are at its edge.
func (a axis) col(t time.Duration) int {
	t = min(max(t, a.from), a.to)
	hi, lo := bits.Mul64(apart(a.from, t), uint64(laneCols-1))
	col, _ := bits.Div64(hi, lo, apart(a.from, a.to))
	return laneLeft + int(col)
}

// covers reports whether any time between two instants is on the axis.
func (a axis) covers(from, to time.Duration) bool { return to >= a.from && from <= a.to }

// step is the distance of ticks: 1, 2 or 5 times a power of ten, with room for
// a label between two.
func (a axis) step(room int) time.Duration {
	atLeast := apart(a.from, a.to) / uint64(laneCols) * uint64(room)
	const longest = 5e18
	for step := uint64(time.Millisecond); ; step *= 10 {
		for _, n := range []uint64{1, 2, 5} {
			if n*step >= atLeast || n*step >= longest {
				return time.Duration(n * step)
			}
		}
	}
}

// ticks are the multiples of step on the axis.
func (a axis) ticks(step time.Duration) []time.Duration {
	t := a.from / step * step
	if t > a.to || t < a.from && apart(t, a.to) < uint64(step) {
		return nil
	}
	if t < a.from {
		t += step
	}
	list := []time.Duration{t}
	for apart(t, a.to) >= uint64(step) {
		t += step
		list = append(list, t)
	}
	return list
}

// draw writes the labels and the line with its ticks.
func (a axis) draw(u units, labels, line row) {
	const room = 10
	step := a.step(room)
	if long := len(u.tick(a.to/step*step, step)) + 2; long > room {
		step = a.step(long)
	}
	line.fill(laneLeft, columns-1, '─', dim)
	for _, t := range a.ticks(step) {
		col := a.col(t)
		line.fill(col, col, '┼', dim)
		if label := u.tick(t, step); col+len(label) <= len(labels) {
			labels.write(col, label, dim)
		}
	}
}
