package report

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// calm tells what happened in a run that broke nothing of what was promised:
// what the fault did to a holder, and how it ended well.
func (p *plot) calm() {
	for _, tell := range []func() bool{p.refused, p.outlived, p.struck, p.undisturbed} {
		if tell() {
			return
		}
	}
}

// refused tells how the resource turned a stale access away.
func (p *plot) refused() bool {
	for _, v := range p.d.visits {
		if v.f != history.Refuse || v.grant == nil {
			continue
		}
		p.climax = v.pos
		p.holder(v.grant)
		for _, g := range p.d.grants {
			if g.token > v.grant.token && g.got < v.pos {
				if v.grant.holds(g.got) {
					p.enters(g, v.grant)
					p.together(v.grant, g)
				} else {
					p.granted(g, "", "")
				}
				p.writesOf(g)
				break
			}
		}
		p.refusal(v)
		return true
	}
	return false
}

// writesOf shows what a holder wrote.
func (p *plot) writesOf(g *grant) {
	for _, v := range p.d.visits {
		if v.grant == g && v.f == history.Write {
			p.writing(v)
		}
	}
}

// outlived tells of a holder whose entry went before its hold ended.
func (p *plot) outlived() bool {
	for _, g := range p.d.grants {
		s := p.d.stayOf(g.op)
		if s == nil || s.to == none || !g.holds(s.to) {
			continue
		}
		p.climax = p.d.last()
		if g.end != none {
			p.climax = g.end
		}
		p.holder(g)
		p.leaving(g)
		p.next(s.to, "")
		return true
	}
	return false
}

// leaving tells how a holder's hold ended.
func (p *plot) leaving(g *grant) {
	if o := g.release; o != nil {
		did := "released the lock"
		switch {
		case o.outcome == history.Fail && o.err == history.ErrNotHeld:
			did = "released the lock and was told that it did not hold it any more"
		case o.outcome == history.Info:
			did = "released the lock and got no answer"
		}
		p.add(moment{pos: o.invoke, lane: g.client, who: g.client, did: did, line: g.client + " releases the lock"})
		p.ride(o)
	}
}

// struck tells of the first fault that had an effect on somebody, a holder
// first.
func (p *plot) struck() bool {
	for _, holding := range []bool{true, false} {
		for _, f := range p.d.faults {
			if !f.hit() {
				continue
			}
			for _, g := range p.d.grants {
				mine := g.client == f.on[0] || p.serves(f.on[0])
				if !mine || holding && !g.holds(f.start) && g.end != f.start || !holding && g.got < f.start {
					continue
				}
				p.climax = max(f.start, f.end, g.got)
				p.granted(g, "", "")
				p.loss(g, 1)
				p.leaving(g)
				p.next(max(g.end, g.got), "")
				if !holding {
					p.add(moment{pos: f.start, lane: f.on[0], who: f.on[0], did: "was struck by " + f.kind, line: f.kind + " strikes " + f.on[0]})
				}
				return true
			}
		}
	}
	return false
}

func (p *plot) serves(name string) bool {
	for _, s := range p.d.stays {
		if s.server == name {
			return true
		}
	}
	return false
}

// undisturbed tells of the first hand-over in a run in which no fault touched anybody.
func (p *plot) undisturbed() bool {
	for i, g := range p.d.grants {
		if i > 1 {
			break
		}
		p.climax = g.got
		p.granted(g, "", "")
		p.leaving(g)
	}
	if len(p.d.grants) == 0 {
		for _, o := range p.d.all[:min(1, len(p.d.all))] {
			p.asks(o)
			p.coda = "Nobody was granted it."
		}
		return true
	}
	p.coda = fmt.Sprintf("No fault touched those who held; %d grants in all.", len(p.d.grants))
	return true
}

// bare tells of a witness of which nothing more is known than its lines.
func (p *plot) bare(witness []int) {
	for _, pos := range witness {
		e := &p.d.h.Entries[pos]
		who, lane := e.Process.Name, e.Process.Name
		if e.Process.Client() {
			who, lane = client(e), client(e)
			p.with(who)
		}
		p.add(moment{
			pos: pos, lane: lane, who: who,
			did:  fmt.Sprintf("said %s %s", e.Type, e.F),
			line: fmt.Sprintf("%s: %s %s", who, e.Type, e.F),
		})
	}
}
