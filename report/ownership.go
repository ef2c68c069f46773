package report

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// ownership tells of a command that acted on an entry of another grant.
func (p *plot) ownership(witness []int) bool {
	for _, pos := range witness {
		e := &p.d.h.Entries[pos]
		if e.Process.Client() || e.F != history.Remove && e.F != history.Takeover && e.F != history.Shorten {
			continue
		}
		by, victim := p.d.opAt(e.By), p.d.victim(e)
		if by == nil || victim == nil {
			continue
		}
		p.climax = pos
		if c := by.grant; c != nil && c != victim {
			p.holder(c)
		}
		p.weigh(side, func() { p.succeeds(victim) })
		p.granted(victim, "", "")
		deed := "removed"
		switch e.F {
		case history.Shorten:
			deed = "shortened"
			p.shortens(pos, by, victim)
		case history.Takeover:
			deed = "took over"
			fallthrough
		default:
			p.removes(pos)
		}
		which, whose := by.f, possessive(victim.client)
		if by.client == victim.client {
			which, whose = "earlier "+by.f, "its newer"
		}
		p.title = fmt.Sprintf("%s's %s %s %s entry for %s at %s",
			by.client, which, deed, whose, p.lock(), p.d.units.at(p.d.at(pos)))
		p.damage(pos)
		return true
	}
	return false
}

// damage tells of the first write after pos that destroyed another, if both were made with
// grants of the story.
func (p *plot) damage(pos int) {
	for _, v := range p.d.visits {
		if v.pos < pos || v.grant == nil || !p.said[v.grant.got] {
			continue
		}
		if over, lost := p.d.overwritten(v); over && lost != nil && lost.grant != nil && p.said[lost.grant.got] {
			p.overwriting(v)
			return
		}
	}
}

// succeeds tells whose entry the acquire of g took over or removed before its grant.
func (p *plot) succeeds(g *grant) {
	for _, s := range p.d.stays {
		if s.by == g.op && s.op != g.op && s.to < g.got {
			if s.grant() != nil {
				p.granted(s.grant(), "", "")
			}
			p.trespass(s)
		}
	}
}

// victim returns the grant that a server's line acts on, or nil if no client learned
// of it.
func (d *digest) victim(e *history.Entry) *grant {
	if o := d.opAt(e.Op); o != nil {
		return o.grant
	}
	return d.byID[e.Grant]
}

func (p *plot) removes(pos int) {
	for _, s := range p.d.stays {
		if s.to == pos {
			p.trespass(s)
			if s.grant() != nil {
				p.intruder(s)
			}
		}
	}
}

// nears tells that a request brought the end of an entry nearer, which came then. Its owner
// may have done it itself.
func (p *plot) nears(s *stay) {
	if s.nearer == none {
		return
	}
	who, whose, to := "a request", s.owner(), ""
	if by := p.d.opAt(p.d.h.Entries[s.nearer].By); by != nil {
		if by.f == history.Extend {
			who = "an extend"
		}
		who += " of " + by.client
		if by.client == s.client() {
			whose = "its"
		}
	}
	if g := s.grant(); g != nil && g.until(s.to) != g.until(s.nearer) {
		to = ", to " + p.d.units.at(g.until(s.to))
	}
	p.add(happens(s.nearer, who, "brought the end of "+whose+" entry nearer"+to, "brings the end of "+whose+" entry nearer"+to).in(s.server))
}

func (p *plot) shortens(pos int, by *op, victim *grant) {
	p.with(by.client)
	p.add(works(pos, p.d.h.Entries[pos].Process.Name, by.client, by.f,
		"brought the end of "+victim.client+"'s entry nearer"+p.still(victim, pos), "shortens the life of "+victim.client+"'s entry"))
	p.ride(by)
}
