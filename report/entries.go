package report

import (
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// loss tells how the entry of g went, up to the climax, other than by its own
// release. depth bounds how far back the story goes.
func (p *plot) loss(g *grant, depth int) bool {
	s := p.d.stayOf(g.op)
	if s == nil {
		return p.leaseEnded(g)
	}
	if s.to == none || s.to > p.climax {
		return false
	}
	switch s.how {
	case history.Expire:
		p.expired(s)
	case history.Lose:
		p.lost(s)
	default:
		if s.by == nil || s.by == g.op || s.by.grant == g {
			return false
		}
		if c := s.by.grant; c != nil && depth > 0 {
			p.granted(c, "", "")
			p.loss(c, depth-1)
		}
		p.trespass(s)
	}
	return true
}

// leaseEnded is for histories that do not show the servers: what is known of
// a lease is what its holder says.
func (p *plot) leaseEnded(g *grant) bool {
	until := g.until(p.climax)
	if until == 0 || until >= p.d.at(p.climax) {
		return false
	}
	pos := slices.IndexFunc(p.d.h.Entries, func(e history.Entry) bool { return e.Time >= until })
	if pos <= g.got || !g.holds(pos) {
		return false
	}
	p.add(moment{
		pos: pos, at: until, noEntry: true, lane: g.client, who: g.client + "'s lease",
		did:  "ended" + p.still(g, pos),
		line: g.client + "'s lease ends",
	})
	return true
}

// still says what a holder did not know.
func (p *plot) still(g *grant, pos int) string {
	switch {
	case g == nil:
		return ""
	case g.holds(pos):
		return ", while " + g.client + " still believed that it held the lock"
	case g.release != nil && g.release.invoke <= pos && before(pos, g.release.effect):
		return ", before " + g.client + "'s release got there"
	}
	return ""
}

// expired tells that a server dropped an entry whose time was over, by its own
// clock.
func (p *plot) expired(s *stay) {
	owner := s.owner()
	m := moment{pos: s.to, lane: s.server, who: s.server}
	at, slack := p.d.at(s.to), p.d.slack()
	var until time.Duration
	g := s.grant()
	if g != nil {
		until = g.until(s.to)
	}
	switch {
	case until == 0:
		m.did = "dropped " + owner + " entry: its time was over"
		m.line = owner + " entry expires"
	case at < until-slack:
		early := p.d.units.span(until - at)
		m.did = "dropped " + owner + " entry as expired, " + early + " before the lease ended"
		m.line = s.server + " drops " + owner + " entry as expired, " + early + " too early"
	case at > until+slack:
		late := p.d.units.span(at - until)
		m.did = "dropped " + owner + " entry, " + late + " after the lease had ended"
		m.line = owner + " entry expires, " + late + " after the lease has ended"
	default:
		m.who, m.did = owner+" lease", "ended and "+s.server+" dropped the entry"
		m.line = owner + " lease ends: " + s.server + " drops the entry"
	}
	m.did += p.still(g, s.to)
	p.add(m)
}

// lost tells that a server lost an entry.
func (p *plot) lost(s *stay) {
	p.add(moment{
		pos: s.to, lane: s.server, who: s.server,
		did:  "lost " + s.owner() + " entry" + p.still(s.grant(), s.to),
		line: s.server + " loses " + s.owner() + " entry",
	})
}

// trespass tells that a command removed or took over somebody else's entry.
func (p *plot) trespass(s *stay) {
	by := s.by
	if by == nil {
		return
	}
	p.with(by.client)
	whose, which := s.owner(), ""
	if s.client() == by.client {
		whose, which = "its newer", "earlier "
	}
	did, does := "removed", "removes"
	if s.how == history.Takeover {
		did, does = "took over", "takes over"
	}
	p.add(moment{
		pos: s.to, lane: s.server, actor: by.client, who: by.client + "'s " + which + by.f,
		did:  did + " " + whose + " entry" + p.still(s.grant(), s.to),
		line: by.client + "'s " + which + by.f + " " + does + " " + whose + " entry",
	})
	p.ride(by)
}

// entryEnds tells what became of an entry that nobody used any more.
func (p *plot) entryEnds(s *stay) {
	switch {
	case s.to == none:
	case s.how == history.Expire:
		p.expired(s)
	case s.how == history.Lose:
		p.lost(s)
	case s.by != nil && s.by.client != s.client():
		p.trespass(s)
	case s.by != nil:
		p.add(moment{
			pos: s.to, lane: s.server, actor: s.by.client, who: s.by.client + "'s " + s.by.f,
			did:  "removed that entry",
			line: s.by.client + "'s " + s.by.f + " removes its entry",
		})
	}
}

// makes tells that a server made an entry of which its owner was not told.
func (p *plot) makes(s *stay) {
	p.with(s.client())
	p.add(moment{
		pos: s.from, lane: s.server, who: s.server,
		did:  "made an entry for " + s.client(),
		line: s.server + " makes an entry for " + s.client(),
	})
}
