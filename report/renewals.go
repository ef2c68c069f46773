package report

import "github.com/lockcheck/lockcheck/history"

// renewals tells how often the grants of the story were renewed in the background,
// and which client noticed that it had lost one.
func (p *plot) renewals() {
	for _, g := range p.d.grants {
		if !p.said[g.got] {
			continue
		}
		p.notices(g)
		if g == p.keeper {
			continue
		}
		n := g.renewed(p.climax)
		if n == 0 {
			continue
		}
		pos := g.renewals[n-1]
		until := p.d.units.at(g.until(pos))
		m := acts(pos, g.client, "renewed its lease, until "+until, "renews its lease, until "+until).weighing(detail)
		if n > 1 {
			m.did = "had renewed its lease " + times(n) + ", by then until " + until
			m.line += " (" + times(n) + " so far)"
		}
		p.add(m)
	}
}

// notices tells that the client of g learned that it had lost the lock, if that ended
// its hold.
func (p *plot) notices(g *grant) {
	if g.end == none || p.d.at(g.end) > p.d.at(p.climax)+p.d.h.Header.Lease() {
		return
	}
	e := &p.d.h.Entries[g.end]
	if !e.Process.Client() || e.F != history.Lost && (e.F != history.Extend || e.Type != history.Fail) {
		return
	}
	p.add(acts(g.end, g.client, "noticed that it had lost the lock", "notices that it has lost the lock").weighing(side))
}
