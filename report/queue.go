package report

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// ahead returns the entries that were in the queue before s when it came.
func (d *digest) ahead(s *stay) (list []*stay) {
	for _, o := range d.stays {
		if o.key != s.key && o.from < s.from && before(s.from, o.to) {
			list = append(list, o)
		}
	}
	return list
}

// queued tells that a client joined the queue, and behind which one.
func (p *plot) queued(s *stay) {
	if s.op == nil {
		return
	}
	p.with(s.client())
	before, behind := "", ""
	if ahead := p.d.ahead(s); len(ahead) > 0 {
		if last := ahead[len(ahead)-1]; last.op != nil && last.client() != s.client() {
			before = last.client()
			behind = ", behind " + before
		}
	}
	if s.op.grant == nil && p.d.place(s.op) == nil && slices.ContainsFunc(p.d.h.Entries, func(e history.Entry) bool { return e.F == history.Queued }) {
		node := "an entry for " + s.client() + behind + ", of which " + s.client() + " did not hear" // as others hear of theirs
		p.add(happens(s.from, s.home, "made "+node, "makes "+strings.Replace(node, "did not", "does not", 1)).weighing(side))
		return
	}
	m := happens(s.from, s.client(), "queued up"+behind, "queues up"+behind).in(s.home).weighing(side)
	m.joins, m.behind = s.client(), before
	p.add(m)
}

// gather merges, if there are too many moments, what one server did at one time if no
// optional moment is left to drop, and the moments of several clients that queued up one right behind the other.
func (p *plot) gather() {
	needed := func() (n int) {
		for i := range p.moments {
			if p.moments[i].weight <= side {
				n++
			}
		}
		return n
	}
	for i := 1; i < len(p.moments) && needed() > maxMoments; i++ {
		m, last := p.moments[i], &p.moments[i-1]
		if m.who != last.who || !p.d.servers[m.who] || m.did == "" || last.did == "" || m.where+m.between+last.between != "" || p.d.units.at(m.at) != p.d.units.at(last.at) {
			continue
		}
		last.did += " and " + m.did
		last.line += " and " + strings.TrimPrefix(m.line, m.who+" ")
		last.weight = min(last.weight, m.weight)
		last.faults = append(last.faults, m.faults...)
		p.moments = slices.Delete(p.moments, i, i+1)
		i--
	}
	for i := 0; i < len(p.moments) && len(p.moments) > maxMoments; i++ {
		n := i
		var who []string
		for n < len(p.moments) && p.moments[n].joins != "" && (n == i || p.moments[n].behind == p.moments[n-1].joins) {
			who = append(who, p.moments[n].joins)
			n++
		}
		if len(who) < 2 {
			continue
		}
		m := p.moments[n-1]
		m.who = list(who)
		in := ", in this order"
		if behind := p.moments[i].behind; behind != "" {
			in = " behind " + behind + in
		}
		m.did, m.line = "had queued up"+in, list(who)+" have queued up"+in
		p.moments = slices.Replace(p.moments, i, n, m)
	}
}

// joined tells which client came during a hold that then entered again.
func (p *plot) joined(x, y *grant) {
	if !p.d.queue || x.client != y.client {
		return
	}
	for _, s := range slices.Backward(p.d.stays) {
		if x.got < s.from && s.from < y.got && s.op != nil && s.client() != y.client {
			p.queued(s)
			return
		}
	}
}

// sameNumber tells of two nodes with the same number in a queue, so that the rest of
// their names decides which one is first.
func (p *plot) sameNumber(x, y *grant) {
	one, other := p.d.place(x.op), p.d.place(y.op)
	if !p.d.queue || x.client == y.client || one == nil || other == nil || one.Value != other.Value {
		return
	}
	mine, its := y.restsOn(), x.restsOn()
	if len(mine) == 0 || len(its) == 0 {
		return
	}
	number := number(one.Value.V)
	p.with(x.client)
	p.add(happens(its[0].from, x.client, "queued up with number "+number, "queues up with number "+number).in(its[0].home))
	first, comes := "", ""
	if mine[0].key < its[0].key {
		first = ", and the name of its node came before that of " + possessive(x.client)
		comes = "; by name its node comes before " + possessive(x.client)
	}
	p.with(y.client)
	p.add(happens(mine[0].from, y.client, "queued up with the same number"+first, "queues up with the same number"+comes).in(mine[0].home))
}

// place returns the line that gives an acquire its place in the queue, or nil.
func (d *digest) place(o *op) *history.Entry {
	for pos := o.invoke; pos < len(d.h.Entries); pos++ {
		if e := &d.h.Entries[pos]; e.F == history.Queued && d.opAt(e.Op) == o {
			return e
		}
	}
	return nil
}
