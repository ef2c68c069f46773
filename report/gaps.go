package report

import "time"

// gap is a stretch of the history, by its first and last position.
type gap struct{ begin, end int }

// longestFree returns the longest time between two positions in which no client held.
// If a client held throughout, found is false and the result is the whole time.
func (p *plot) longestFree(from, to int) (longest gap, found bool) {
	most := time.Duration(-1)
	for _, g := range p.free(from, to) {
		if d := p.d.at(g.end) - p.d.at(g.begin); d > most {
			longest, most, found = g, d, true
		}
	}
	if !found {
		return gap{from, to}, false
	}
	return longest, true
}

// free returns the times between two positions in which no client held.
func (p *plot) free(from, to int) (list []gap) {
	begin := from
	add := func(end int) {
		if begin < end {
			list = append(list, gap{begin, end})
		}
	}
	for _, g := range p.d.grants {
		if g.got > to || begin > to {
			break
		}
		add(g.got)
		if g.end == none {
			begin = to + 1
		} else {
			begin = max(begin, g.end)
		}
	}
	add(to)
	return list
}

// lastHolder returns the last grant before the gap, or nil.
func (p *plot) lastHolder(free gap) *grant {
	var last *grant
	for _, g := range p.d.grants {
		if g.got < free.end && (last == nil || before(last.end, g.end)) {
			last = g
		}
	}
	return last
}
