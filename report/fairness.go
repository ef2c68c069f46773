package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// leftover adds to the release of g that its lease was to end only afterwards, by pos: a
// lock may count it for the next client.
func (p *plot) leftover(g *grant, pos int) {
	until := g.until(g.end)
	if g.release == nil || until <= p.d.at(g.release.invoke) || until >= p.d.at(pos) {
		return
	}
	for i := range p.moments {
		if m := &p.moments[i]; m.pos == g.release.invoke && m.did != "" {
			m.did += ", whose lease was to end at " + p.d.units.at(until)
			m.line += ", whose lease was to end at " + p.d.units.at(until)
		}
	}
}

// fairness tells of a client that was overtaken in the queue. If others passed it
// several times, the lines tell the whole story.
func (p *plot) fairness(witness []int) bool {
	grants := p.grantsAt(witness)
	var places []int
	for _, pos := range witness {
		if p.d.h.Entries[pos].F == history.Queued {
			places = append(places, pos)
		}
	}
	if len(grants) == 0 || len(places) == 0 {
		return false
	}
	y := grants[0]
	first := slices.IndexFunc(places, func(pos int) bool { return client(&p.d.h.Entries[pos]) != y.client })
	if first < 0 {
		return false
	}
	x := client(&p.d.h.Entries[places[first]])
	p.climax = y.got
	ahead := " was ahead of it in the queue"
	if len(places) == 1 { // y had no place, or not since it asked
		ahead = " was in the queue when " + y.client + " asked"
	}
	p.title = y.client + " was granted " + p.lock() + " before " + x + ", which" + ahead
	for _, pos := range places {
		p.place(pos)
	}
	if len(places) == 1 && y.op != nil {
		p.returns(y.op)
		p.asks(y.op)
	}
	for _, g := range slices.Backward(p.d.grants) {
		if before(places[first], g.end) && before(g.end, y.got) { // its turn was over
			p.with(g.client)
			p.leaves(g, side)
			p.leftover(g, y.got)
			break
		}
	}
	p.granted(y, ", although "+x+ahead, ", past "+x)
	s := span{label: x + " waits", from: p.d.at(places[first]), to: p.d.at(y.got)}
	for _, g := range grants[1:] {
		if g.client == x {
			s.to = p.d.at(g.got)
			p.granted(g, "", "")
		}
	}
	p.spans = append(p.spans, s)
	return true
}
