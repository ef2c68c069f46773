package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// holder tells how g was granted, and how its entry ended while its client believed
// that it was there. It reports whether the entry ended.
func (p *plot) holder(g *grant) bool {
	p.granted(g, "", "")
	return p.loss(g, 2)
}

// loss tells how the entries of g ended, up to the climax, other than by its own
// release. depth limits how far back the story goes.
func (p *plot) loss(g *grant, depth int) bool {
	if len(g.op.stays) == 0 {
		return p.leaseEnded(g)
	}
	var gone []*stay
	if inner := g.deepened(p.climax); inner != nil {
		p.deepens(inner)
		return true
	}
	vain, removed := g.inVain(), false
	for _, s := range g.op.stays {
		if s.to <= p.climax && s.how != history.Lose && p.d.fromOutside(s.to) {
			removed = true // the fault tells it
		}
		if s.to != none && s.to <= p.climax && !s.own() && !slices.Contains(vain, s) && (s.by != nil || s.how == history.Expire || s.how == history.Lose) {
			gone = append(gone, s)
		}
	}
	for _, group := range p.d.together(gone) {
		switch s := group[0]; s.how {
		case history.Expire:
			for _, s := range group {
				p.nears(s)
			}
			p.expired(group...)
		case history.Lose:
			p.lost(group...)
		default:
			if c := s.by.grant; c != nil && c.got < s.to && depth > 0 {
				p.granted(c, "", "")
				p.loss(c, depth-1)
			}
			p.trespass(s)
		}
	}
	return len(gone) > 0 || removed
}

// leaseEnded is for histories that do not show the servers: the lease is known only
// from its holder's lines.
func (p *plot) leaseEnded(g *grant) bool {
	until := g.until(p.climax)
	if until == 0 || until >= p.d.at(p.climax) {
		return false
	}
	pos := slices.IndexFunc(p.d.h.Entries, func(e history.Entry) bool { return e.Time >= until })
	if pos <= g.got || !g.holds(pos) {
		return false
	}
	m := happens(pos, possessive(g.client)+" lease", "ended"+p.still(g, pos), "ends").in(g.client)
	m.at, m.noEntry = until, true
	p.add(m)
	return true
}

// deepened returns the grant that g's process got within g, if it took over the entry
// of g and released it before the climax, while g was held.
func (g *grant) deepened(climax int) *grant {
	for _, s := range g.op.stays {
		if s.by == nil || s.by.grant == nil || s.by.grant == g || s.by.grant.nest != g.nest {
			continue
		}
		inner := s.by.grant
		if last := inner.lastEntry(); last != nil && last.own() && last.to <= climax && g.holds(last.to) {
			return inner
		}
	}
	return nil
}

// deepens tells how a holder was granted the lock again, and that the inner release
// freed the lock of the outer hold.
func (p *plot) deepens(inner *grant) {
	p.granted(inner, ", though it held it already", ", though it holds it")
	s := inner.lastEntry()
	if o := inner.release; o != nil {
		p.add(acts(o.invoke, inner.client, "released the inner grant", "releases the inner grant").weighing(side))
	}
	p.add(works(s.to, s.server, inner.client, "release of the inner grant", "removed its entry"+p.still(inner.nest, s.to), "removes its entry"))
	p.ride(s.by)
}
