package report

import (
	"fmt"
	"slices"
	"time"
)

// The layout of the lanes.
const (
	laneName   = 2 // column of a lane's name
	sideName   = 4 // of the name of a row that belongs to a lane
	maxClients = 4
	maxServers = 6
)

// drawing is the lanes while they are drawn.
type drawing struct {
	*page
	plot    *plot
	axis    axis
	clients []string
	out     []string      // the servers that are left out
	used    map[rune]bool // the signs that the legend has to explain

	numbered map[string]bool // the lanes that have their moments' numbers
}

// finish writes a row of a lane, and notes the signs that it shows.
func (d *drawing) finish(r row, signs string) {
	for _, s := range signs {
		if slices.ContainsFunc(r[laneLeft:], func(c cell) bool { return c.r == s }) {
			d.used[s] = true
		}
	}
	d.page.row(r)
}

// name writes a lane's name, cut to its room.
func (d *drawing) name(r row, at int, name string, s style) {
	r.write(at, d.narrow(name, laneLeft-1-at), s)
}

// narrow cuts a name to its room.
func (p *page) narrow(name string, room int) string {
	n := []rune(p.clean(name))
	if len(n) > room {
		n = append(n[:room-1], '~')
	}
	return string(n)
}

// bracket draws a time as a line with two ends, or as one point. An end beyond the
// axis is left open.
func (d *drawing) bracket(r row, from, to time.Duration, s style) {
	if !d.axis.covers(from, to) {
		return
	}
	a, b := d.axis.col(from), d.axis.col(to)
	r.fill(a, b, '─', s)
	if a == b {
		r.fill(a, b, '┼', s)
		return
	}
	if from >= d.axis.from {
		r.fill(a, a, '├', s)
	}
	if to <= d.axis.to {
		r.fill(b, b, '┤', s)
	}
}

// numbers writes the numbers of a lane's moments below it, unless one moment is marked.
func (d *drawing) numbers(lane string) {
	d.numbered[lane] = true
	if d.cursor > 0 {
		return
	}
	r := newRow()
	if d.number(r, func(m *moment) bool { return m.lane == lane }) {
		d.page.row(r)
	}
}

// elsewhere writes the numbers of the moments whose lanes are not shown.
func (d *drawing) elsewhere() {
	r := newRow()
	d.name(r, laneName, "not shown", dim)
	if d.cursor == 0 && d.number(r, func(m *moment) bool { return !d.numbered[m.lane] }) {
		d.page.row(r)
	}
}

// number writes the numbers of some moments, with a blank between two. A number without
// room stands as near as possible. It reports whether there was one.
func (d *drawing) number(r row, of func(*moment) bool) bool {
	var cols, numbers []int
	next := laneLeft
	for i := range d.plot.moments {
		if m := &d.plot.moments[i]; of(m) {
			c := max(d.axis.col(m.at), next)
			cols, numbers, next = append(cols, c), append(numbers, i+1), c+2
		}
	}
	last := len(r) - 1
	for i, c := range slices.Backward(cols) { // back from beyond the edge
		c = min(c, last)
		r.write(c, fmt.Sprint(numbers[i]), plain)
		last = c - 2
	}
	return len(cols) > 0
}
