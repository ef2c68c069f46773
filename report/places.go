package report

import "github.com/lockcheck/lockcheck/history"

// maxAhead is the largest number of clients that left their places and that a story
// names.
const maxAhead = 4

// absent tells which acquires had places in the queue before o, and died or gave up
// there. If the store keeps such a place, every acquire behind it waits for a client
// that does not come. If the entries themselves are the places, the story has them
// already.
func (p *plot) absent(o *op, free gap) {
	if o == nil || p.d.queue {
		return
	}
	told := 0
	for pos := range p.d.h.Entries[:free.end] {
		e := &p.d.h.Entries[pos]
		if e.F != history.Queued || told == maxAhead {
			continue
		}
		w := p.d.opAt(e.Op)
		if w == o {
			return
		}
		if w != nil && w.grant == nil && w.client != o.client && before(w.over(), free.end) {
			p.place(pos)
			p.quits(w)
			told++
		}
	}
}

// returns tells that y's client had a place from an earlier acquire, on which it had
// given up.
func (p *plot) returns(y *op) {
	for pos := range p.d.h.Entries[:y.invoke] {
		e := &p.d.h.Entries[pos]
		if w := p.d.opAt(e.Op); e.F == history.Queued && w != nil && w != y && w.client == y.client && w.grant == nil {
			p.place(pos)
			p.quits(w)
		}
	}
}

// placed tells that g's client had a place in the queue before it was granted the lock,
// from this acquire or an earlier one. If the entries are the places, the story has it
// already.
func (p *plot) placed(g *grant) {
	if p.d.queue {
		return
	}
	p.weigh(side, func() {
		n := len(p.moments)
		if p.returns(g.op); len(p.moments) > n {
			p.asks(g.op)
		}
		for pos := g.op.invoke; pos < g.got; pos++ {
			if e := &p.d.h.Entries[pos]; e.F == history.Queued && p.d.opAt(e.Op) == g.op && p.d.units.at(e.Time) != p.d.units.at(p.d.at(g.got)) {
				p.place(pos)
			}
		}
	})
}

// place tells that a client learned of its place in the queue.
func (p *plot) place(pos int) {
	who := client(&p.d.h.Entries[pos])
	p.with(who)
	p.add(acts(pos, who, "had its place in the queue", "has its place in the queue"))
}

// quits tells that a client stopped waiting. Its death is part of the moment of the
// fault that killed it.
func (p *plot) quits(o *op) {
	if o.outcome == history.Fail {
		p.add(acts(o.done, o.client, "gave up waiting", "gives up waiting").weighing(side))
	}
}
