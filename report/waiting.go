package report

import (
	"fmt"
	"slices"
	"time"
)

// waiting tells of a lock that nobody got: who waited, whose entry was in the
// way and why nobody took it out, and how it ended. kept says that it may be
// because somebody kept it.
func (p *plot) waiting(witness []int, kept bool) bool {
	if len(witness) == 0 {
		return false
	}
	first, last := witness[0], witness[len(witness)-1]
	free, found := p.longestFree(first, last)
	whole := p.d.at(last) - p.d.at(first)
	if length := p.d.at(free.end) - p.d.at(free.begin); !found || kept && length < whole/2 {
		p.kept(witness, gap{first, last})
		return true
	}
	p.climax = free.end
	s := span{label: "nobody holds", from: p.d.at(free.begin), to: p.d.at(free.end)}
	p.spans = append(p.spans, s)
	waits, asked := p.waiters(witness, free)
	p.title = fmt.Sprintf("nobody held %s %s while %s", p.lock(), p.during(s), waits)

	entry := p.blocker(free)
	if asked != nil && !(p.d.queue && len(asked.stays) > 0) && (entry == nil || asked.invoke > entry.from) {
		p.asks(asked)
	}
	p.absent(asked, free)
	if entry != nil {
		p.obstacle(entry, free)
		p.line(entry, free)
	} else if g := p.lastHolder(free); g != nil {
		p.granted(g, "", "")
		p.leaves(g, key)
	}
	p.ending(entry, free)
	return true
}

// gap is a stretch of the history, by its first and last position.
type gap struct{ begin, end int }

// kept tells of a lock that nobody else got because somebody kept it, who was
// stopped, or whose clock was wrong.
func (p *plot) kept(witness []int, all gap) {
	p.climax = all.end
	waits, asked := p.waiters(witness, all)
	s := span{label: "no grant", from: p.d.at(all.begin), to: p.d.at(all.end)}
	p.spans = append(p.spans, s)
	p.title = fmt.Sprintf("%s for %s %s", waits, p.lock(), p.during(s))
	if g := p.lastHolder(all); g != nil {
		p.title += ", while " + g.client + " kept it"
		p.granted(g, "", "")
		p.keeper = g
	}
	if asked != nil {
		p.asks(asked)
	}
	for _, g := range p.d.grants {
		if g.got == all.end {
			p.granted(g, ": nobody had been for "+p.d.units.span(s.to-s.from), "")
			p.keeper = nil
			return
		}
	}
	m := moment{
		pos: all.end, who: "nobody else",
		did:  "had been granted the lock for " + p.d.units.span(s.to-s.from),
		line: "still nobody else has been granted the lock",
	}
	if asked != nil {
		m.lane = asked.client
	}
	if g := p.keeper; g != nil && g.renewed(all.end) > 0 {
		often, until := times(g.renewed(all.end)), p.d.units.at(g.until(all.end))
		m.did += ", and " + g.client + " had renewed its lease " + often + ", by then until " + until
		m.line += "; " + g.client + " has renewed its lease " + often + ", until " + until
	}
	p.add(m)
}

// longestFree is the longest time between two positions in which nobody held;
// found is false, and it is all of the time, where somebody held throughout.
func (p *plot) longestFree(from, to int) (longest gap, found bool) {
	var best gap
	most := time.Duration(-1)
	try := func(begin, end int) {
		if end <= begin {
			return
		}
		if d := p.d.at(end) - p.d.at(begin); d > most {
			best, most = gap{begin, end}, d
		}
	}
	begin := from
	for _, g := range p.d.grants {
		if g.got > to || begin > to {
			break
		}
		try(begin, g.got)
		if g.end == none {
			begin = to + 1
		} else {
			begin = max(begin, g.end)
		}
	}
	try(begin, to)
	if most < 0 {
		return gap{from, to}, false
	}
	return best, true
}

// waiters gives lanes to two of those who asked meanwhile, those of the
// witness first, and says who they were; asked is the first one's acquire.
func (p *plot) waiters(witness []int, free gap) (said string, asked *op) {
	var names []string
	for _, convicts := range []bool{true, false} {
		for _, o := range p.d.all {
			if !o.asks() || slices.Contains(names, o.client) || o.invoke >= free.end || !before(free.begin, o.over()) {
				continue
			}
			if convicts != (slices.Contains(witness, o.invoke) || slices.Contains(witness, o.done)) {
				continue
			}
			names = append(names, o.client)
			if asked == nil {
				asked = o
			}
		}
	}
	for _, n := range names[:min(2, len(names))] {
		p.with(n)
	}
	switch n := len(names); {
	case n == 0:
		return "somebody waited", nil
	case n <= 3:
		return list(names) + " waited", asked
	default:
		return fmt.Sprintf("%s and %d others waited", names[0], n-1), asked
	}
}

// blocker is the entry that was in the way for most of the time; nil: none was.
func (p *plot) blocker(free gap) *stay {
	from, to := p.d.at(free.begin), p.d.at(free.end)
	most := (to - from) / 4
	var best *stay
	for _, s := range p.d.stays {
		if d := min(p.d.at(s.to), to) - max(p.d.at(s.from), from); d > most {
			best, most = s, d
		}
	}
	return best
}

// obstacle tells whose entry was in the way, and why it stayed there.
func (p *plot) obstacle(s *stay, free gap) {
	switch {
	case s.op == nil:
		p.add(moment{
			pos: s.from, lane: s.home, who: s.home, did: "made an entry",
			line: s.home + " makes an entry, whose owner is not known",
		})
	case s.op.grant != nil:
		p.granted(s.op.grant, "", "")
		p.leaves(s.op.grant, key)
		if s.back {
			p.isBack(s)
		}
	case s.back:
		p.asks(s.op)
		p.unanswered(s.op)
		p.isBack(s)
	default:
		p.makes("", s)
		if before(s.op.done, free.end) {
			p.unanswered(s.op)
		}
	}
}

// lastHolder is who held before; nil: nobody.
func (p *plot) lastHolder(free gap) *grant {
	var last *grant
	for _, g := range p.d.grants {
		if g.got < free.end && (last == nil || before(last.end, g.end)) {
			last = g
		}
	}
	return last
}

// ending tells how the time without a holder came to its end, if it did.
func (p *plot) ending(s *stay, free gap) {
	length := p.d.units.span(p.d.at(free.end) - p.d.at(free.begin))
	if s != nil && s.to != none && s.to <= free.end {
		p.entryEnds(s)
	}
	for _, g := range p.d.grants {
		if g.got == free.end {
			p.granted(g, ": nobody had held it for "+length, ", after "+length+" without a holder")
			return
		}
	}
	m := moment{
		pos: free.end, who: "nobody",
		did:  "had been granted the lock for " + length,
		line: "still nobody has been granted the lock",
	}
	if s != nil && (s.to == none || s.to > free.end) {
		m.lane = s.server
		m.did += ", and " + s.server + " still kept " + s.owner() + " entry"
		m.line += "; " + s.server + " still keeps " + s.owner() + " entry"
	}
	p.add(m)
}
