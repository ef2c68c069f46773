package report

import (
	"slices"

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
	behind := ""
	if ahead := p.d.ahead(s); len(ahead) > 0 {
		if last := ahead[len(ahead)-1]; last.op != nil && last.client() != s.client() {
			behind = ", behind " + last.client()
		}
	}
	p.add(moment{
		pos: s.from, lane: s.home, who: s.client(), weight: side, joins: s.client(),
		did: "queued up" + behind, line: s.client() + " queues up" + behind,
	})
}

// gather merges the moments of several clients that queued up one after the other, if
// there are too many moments.
func (p *plot) gather() {
	for i := 0; i < len(p.moments) && len(p.moments) > maxMoments; i++ {
		n := i
		var who []string
		for n < len(p.moments) && p.moments[n].joins != "" {
			who = append(who, p.moments[n].joins)
			n++
		}
		if len(who) < 2 {
			continue
		}
		m := p.moments[n-1]
		m.who = list(who)
		m.did, m.line = "had queued up, in this order", list(who)+" have queued up, in this order"
		p.moments = slices.Replace(p.moments, i, n, m)
	}
}

// passed tells which waiters ahead of g left the queue without being granted the
// lock: a watch does not distinguish that from a release.
func (p *plot) passed(g *grant) {
	entries := g.restsOn()
	if !p.d.queue || len(entries) == 0 {
		return
	}
	gone := slices.DeleteFunc(p.d.ahead(entries[0]), func(s *stay) bool {
		return !before(s.to, g.got) || s.op == nil || s.op.grant != nil || s.client() == g.client
	})
	const most = 2
	for _, s := range gone[max(0, len(gone)-most):] {
		p.queued(s)
		p.entryEnds(s)
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
	p.add(moment{
		pos: its[0].from, lane: its[0].home, who: x.client,
		did: "queued up with number " + number, line: x.client + " queues up with number " + number,
	})
	first, comes := "", ""
	if mine[0].key < its[0].key {
		first = ", and the name of its node came before that of " + possessive(x.client)
		comes = "; by name its node comes before " + possessive(x.client)
	}
	p.with(y.client)
	p.add(moment{
		pos: mine[0].from, lane: mine[0].home, who: y.client,
		did: "queued up with the same number" + first, line: y.client + " queues up with the same number" + comes,
	})
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

// line tells of a queue that does not move: the last holder, and the clients behind
// the node that is in the way.
func (p *plot) line(first *stay, free gap) {
	if !p.d.queue {
		return
	}
	if g := p.lastHolder(free); g != nil && g.op != first.op {
		p.granted(g, "", "")
		p.leaves(g, key)
	}
	for _, s := range p.d.stays {
		if s != first && s.grant() == nil && s.from < free.end && before(free.begin, s.to) && slices.Contains(p.clients, s.client()) {
			p.queued(s)
		}
	}
}

// maxPlaces is the largest number of rows of a queue.
const maxPlaces = 6

// places draws a server's queue: each place in a row, which other places may use
// before and after. r is the first row, with the server's name.
func (d *drawing) places(r row, server string) {
	data := d.plot.d
	rows, ends := []row{r}, []int{laneLeft - 1}
	for _, s := range data.stays {
		for _, x := range s.on {
			if x.server != server || !d.axis.covers(data.at(x.from), data.at(x.to)) {
				continue
			}
			a, b := d.axis.col(data.at(x.from)), d.axis.col(data.at(x.to))
			i := slices.IndexFunc(ends, func(end int) bool { return end < a })
			if i < 0 {
				i, rows, ends = len(rows), append(rows, d.row()), append(ends, 0)
			}
			ends[i] = b
			rows[i].fill(a, b, '━', plain)
			if owner := []rune(d.clean(s.client())); len(owner) <= b-a+1 {
				rows[i].write(a, string(owner), plain)
			}
		}
	}
	for _, r := range rows[:min(len(rows), maxPlaces)] {
		d.finish(r, "━")
	}
	d.numbers(server)
	d.faults(server)
}
