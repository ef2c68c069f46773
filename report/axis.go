package report

import (
	"time"
)

// axis maps times to columns, linearly: the picture is true to scale.
type axis struct {
	from, to time.Duration
	left     int // its first column
	cols     int
}

func newAxis(from, to time.Duration, left, width int) axis {
	pad := max((to-from)/40, time.Millisecond)
	return axis{from: max(from-pad, 0), to: to + pad, left: left, cols: width - left}
}

// col is the column of a time; one outside the axis is at its edge.
func (a axis) col(t time.Duration) int {
	t = min(max(t, a.from), a.to)
	return a.left + int(int64(t-a.from)*int64(a.cols-1)/int64(a.to-a.from))
}

// covers tells whether some of a time from one instant to another is on the axis.
func (a axis) covers(from, to time.Duration) bool { return to >= a.from && from <= a.to }

// step is the distance of ticks: 1, 2 or 5 times a power of ten, with room for
// a label between two.
func (a axis) step() time.Duration {
	const room = 10
	atLeast := (a.to - a.from) * room / time.Duration(a.cols)
	for step := time.Millisecond; ; step *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if n*step >= atLeast {
				return n * step
			}
		}
	}
}

// draw writes the labels and the line with its ticks.
func (a axis) draw(u units, labels, line row) {
	step := a.step()
	line.fill(a.left, a.left+a.cols-1, '─', dim)
	for t := (a.from + step - 1) / step * step; t <= a.to; t += step {
		col := a.col(t)
		line.fill(col, col, '┼', dim)
		if label := u.tick(t, step); col+len(label) <= len(labels) {
			labels.write(col, label, dim)
		}
	}
}
