package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// waiting tells of a lock that nobody got: who waited, whose entry was in the
// way and why nobody took it out, and how it ended.
func (p *plot) waiting(witness []int, handover bool) bool {
	if len(witness) == 0 {
		return false
	}
	free := p.longestFree(witness[0], witness[len(witness)-1])
	p.climax = free.end
	from, to := p.d.at(free.begin), p.d.at(free.end)
	p.spans = append(p.spans, span{"nobody", from, to})
	length := p.d.units.span(to - from)
	p.title = fmt.Sprintf("nobody held %s for %s, %s, although %s", p.lock(), length,
		p.during(span{from: from, to: to}), p.waiters(witness, free))

	s := p.blocker(free)
	if s != nil {
		p.obstacle(s, free)
	} else if g := p.lastHolder(free); g != nil {
		p.granted(g, "", "")
		p.parting(g)
	}
	p.ending(s, free, handover)
	return true
}

// gap is a stretch of the history, by its first and last position.
type gap struct{ begin, end int }

// longestFree is the longest time between two positions in which nobody held.
func (p *plot) longestFree(from, to int) gap {
	var best gap
	var length time.Duration = -1
	begin := from
	try := func(end int) {
		if d := p.d.at(end) - p.d.at(begin); end > begin && d > length {
			best, length = gap{begin, end}, d
		}
	}
	for _, g := range p.d.grants {
		if g.got > to {
			break
		}
		if g.got > begin {
			try(g.got)
		}
		if g.end == none {
			return best
		}
		begin = max(begin, g.end)
	}
	if begin <= to {
		try(to)
	}
	if length < 0 {
		best = gap{from, to}
	}
	return best
}

// waiters gives lanes to those who asked meanwhile, and says who they were.
func (p *plot) waiters(witness []int, free gap) string {
	var names []string
	for _, convicts := range []bool{true, false} {
		for _, o := range p.d.all {
			if o.f != history.Acquire && o.f != history.Try || slices.Contains(names, o.client) ||
				o.invoke >= free.end || before(o.done, free.begin) || o.done == free.begin {
				continue
			}
			if convicts != (slices.Contains(witness, o.invoke) || slices.Contains(witness, o.done)) {
				continue
			}
			names = append(names, o.client)
			if len(names) == 1 {
				p.asks(o)
			}
		}
	}
	for _, n := range names[:min(2, len(names))] {
		p.with(n)
	}
	switch n := len(names); {
	case n == 0:
		return "somebody waited"
	case n <= 3:
		return list(names) + " waited"
	default:
		return fmt.Sprintf("%s and %d others waited", names[0], n-1)
	}
}

// blocker is the entry that was in the way for most of the time; nil: none was.
func (p *plot) blocker(free gap) *stay {
	var best *stay
	var most time.Duration
	for _, s := range p.d.stays {
		from, to := max(p.d.at(s.from), p.d.at(free.begin)), min(p.d.at(s.to), p.d.at(free.end))
		if to-from > most {
			best, most = s, to-from
		}
	}
	if best == nil || most < (p.d.at(free.end)-p.d.at(free.begin))/4 {
		return nil
	}
	return best
}

// obstacle tells whose entry was in the way, and why it stayed there.
func (p *plot) obstacle(s *stay, free gap) {
	if s.op == nil {
		p.add(moment{
			pos: s.from, lane: s.server, who: s.server, did: "made an entry",
			line: s.server + " makes an entry, whose owner is not known",
		})
		return
	}
	if g := s.op.grant; g != nil {
		p.granted(g, "", "")
		p.parting(g)
		return
	}
	o := s.op
	p.with(o.client)
	p.add(moment{
		pos: s.from, lane: s.server, who: s.server,
		did:  "made an entry for the acquire of " + o.client,
		line: s.server + " makes an entry for the acquire of " + o.client,
	})
	if !before(o.done, free.end) {
		return
	}
	m := moment{pos: o.done, lane: o.client, who: o.client}
	switch {
	case o.outcome == history.Fail:
		m.did = "was told that it had not got the lock, while the entry was its own"
		m.line = o.client + " is told no, although the entry is its own"
	case o.err != history.ErrCrashed:
		m.did = "gave up without an answer and did not know of its entry"
		m.line = o.client + " gives up without an answer"
	default:
		return
	}
	p.add(m)
}

// parting tells how a holder let go without taking its entry out.
func (p *plot) parting(g *grant) {
	if o := g.release; o != nil {
		m := moment{pos: o.invoke, lane: g.client, who: g.client, did: "released the lock", line: g.client + " releases the lock"}
		if s := p.d.stayOf(g.op); s != nil && s.by != o && o.outcome == history.OK {
			m.did += ", and its entry stayed"
			m.line += "; its entry stays"
		}
		p.add(m)
		p.ride(o)
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
func (p *plot) ending(s *stay, free gap, handover bool) {
	length := p.d.units.span(p.d.at(free.end) - p.d.at(free.begin))
	if s != nil && before(s.to, free.end+1) {
		p.entryEnds(s)
	}
	for _, g := range p.d.grants {
		if g.got == free.end {
			p.granted(g, ": nobody had held it for "+length, ", after "+length+" without a holder")
			return
		}
	}
	keeps := ""
	if s != nil && !before(s.to, free.end) {
		keeps = ", and " + s.server + " still kept the entry of " + s.client()
	}
	who, line := "the history", "the history ends, and nobody has been granted the lock"
	did := "ended, without a grant for " + length + keeps
	if free.end < p.d.last() && p.d.h.Entries[free.end].F != history.Ended {
		who, did = "nobody", "had been granted the lock for "+length+keeps
		line = "still nobody has been granted the lock"
	}
	_ = handover
	p.add(moment{pos: free.end, lane: "", who: who, did: did, line: line})
}
