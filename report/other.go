package report

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// ownership tells of a command that acted on somebody else's entry.
func (p *plot) ownership(witness []int) bool {
	for _, pos := range witness {
		e := &p.d.h.Entries[pos]
		if e.Process.Client() || e.Type != history.Event {
			continue
		}
		by := p.d.opAt(e.By)
		if by == nil || e.F != history.Remove && e.F != history.Takeover && e.F != history.Shorten {
			continue
		}
		victim := p.d.victim(e)
		if victim == nil {
			return false
		}
		p.climax = pos
		if c := by.grant; c != nil && c != victim {
			p.holder(c)
		}
		p.granted(victim, "", "")
		if e.F == history.Shorten {
			p.with(by.client)
			p.add(moment{
				pos: pos, lane: e.Process.Name, who: "the " + by.f + " of " + by.client,
				did:  "brought the end of the entry of " + victim.client + " nearer" + p.still(victim, pos),
				line: "the " + by.f + " of " + by.client + " shortens the entry of " + victim.client,
			})
			p.ride(by)
			return true
		}
		for _, s := range p.d.stays {
			if s.to == pos && s.by == by {
				p.trespass(s)
				p.intruder(s)
			}
		}
		p.title = fmt.Sprintf("the %s of %s removed the entry of %s at %s, while it held %s",
			by.f, by.client, victim.client, p.d.units.at(p.d.at(pos)), p.lock())
		return true
	}
	return false
}

// victim is the grant that a server's line acts on; nil: nobody learned of it.
func (d *digest) victim(e *history.Entry) *grant {
	if o := d.opAt(e.Op); o != nil {
		return o.grant
	}
	return d.byID[e.Grant]
}

// resource tells of a write that was not computed from the value in its place.
func (p *plot) resource(witness []int) bool {
	for _, pos := range slices.Backward(witness) {
		i := slices.IndexFunc(p.d.visits, func(v *visit) bool {
			return v.f == history.Write && (v.pos == pos || v.op != nil && (v.op.invoke == pos || v.op.done == pos))
		})
		if i < 0 {
			continue
		}
		v := p.d.visits[i]
		lost := p.overwrites(v)
		if lost == nil {
			continue
		}
		x := v.grant
		p.climax = v.pos
		p.granted(x, "", "")
		p.reading(v)
		p.loss(x, 1)
		p.sending(v)
		if x.release != nil && before(x.release.invoke, v.pos) {
			p.add(moment{
				pos: x.release.invoke, lane: x.client, who: x.client,
				did: "released the lock", line: x.client + " releases the lock", weight: side,
			})
		}
		if y := lost.grant; y != nil && y != x {
			if x.holds(y.got) {
				p.enters(y, x)
				p.together(x, y)
			} else {
				p.granted(y, "", "")
			}
		}
		p.overwriting(v)
		p.title = fmt.Sprintf("the write of %s at %s replaced the %s of %s, which %s had not read",
			v.client, p.d.units.at(p.d.at(v.pos)), value(lost.value), lost.client, v.client)
		return true
	}
	return false
}

// reading shows the read from which a write was computed.
func (p *plot) reading(v *visit) {
	var read *visit
	for _, o := range p.d.visits {
		if o.pos < v.pos && o.grant == v.grant && o.f == history.Read {
			read = o
		}
	}
	if read != nil {
		p.add(moment{
			pos: read.pos, lane: history.Resource, weight: detail,
			line: fmt.Sprintf("%s reads %s", v.client, value(read.value)),
		})
	}
}

// sending tells when a write left that arrived late.
func (p *plot) sending(v *visit) {
	if !p.arrivesLate(v) {
		return
	}
	p.add(moment{
		pos: v.op.invoke, lane: v.client, who: v.client,
		did:  fmt.Sprintf("sent its write of %s", value(v.value)),
		line: fmt.Sprintf("%s sends its write of %s", v.client, value(v.value)),
	})
	if v.op.outcome == history.Info {
		p.add(moment{
			pos: v.op.done, lane: v.client, who: v.client, weight: side,
			did:  "stopped waiting for an answer to it",
			line: v.client + " gets no answer and gives up on it",
		})
	}
}

// fencing tells of tokens that do not grow.
func (p *plot) fencing(witness []int) bool {
	g := p.grantsAt(witness)
	if len(g) < 2 {
		return false
	}
	x, y := g[0], g[1]
	p.climax = y.got
	p.holder(x)
	note, now := fmt.Sprintf(": as old as that of %s", x.client), fmt.Sprintf(", as %s had", x.client)
	p.title = fmt.Sprintf("%s and %s were both granted %s with token %d", x.client, y.client, p.lock(), y.token)
	if x.token > y.token {
		note = fmt.Sprintf(": older than the token %d that %s had got before", x.token, x.client)
		now = fmt.Sprintf(", below %d", x.token)
		p.title = fmt.Sprintf("%s got token %d after %s had got token %d", y.client, y.token, x.client, x.token)
	}
	p.granted(y, note, now)
	if x.holds(y.got) {
		p.together(x, y)
	}
	return true
}

// answers tells of a client that was told what is not true.
func (p *plot) answers(witness []int) bool {
	for _, pos := range slices.Backward(witness) {
		o := p.d.ops[pos]
		if o == nil || o.done != pos {
			continue
		}
		p.climax = o.done
		p.with(o.client)
		switch {
		case o.f == history.Release:
			return p.falseRelease(o)
		case o.outcome == history.OK:
			p.asks(o)
			p.granted(o.grant, ", and no server had granted it", ": no server granted it")
			p.title = o.client + " was told that it holds " + p.lock() + ", and no server had granted it"
		default:
			p.falseNo(o)
		}
		return true
	}
	return false
}

func (p *plot) asks(o *op) {
	p.with(o.client)
	p.add(moment{
		pos: o.invoke, lane: o.client, who: o.client, weight: side,
		did: "asked for the lock", line: o.client + " asks for the lock",
	})
}

func (p *plot) falseNo(o *op) {
	p.asks(o)
	s := p.d.stayOf(o)
	if s == nil {
		return
	}
	p.add(moment{
		pos: s.from, lane: s.server, who: s.server,
		did: "made an entry for it", line: s.server + " makes an entry for " + o.client,
	})
	p.title = o.client + " was told that it does not hold " + p.lock() + ", and the entry was its own"
	p.add(moment{
		pos: o.done, lane: o.client, who: o.client,
		did:  "was told that it had not got the lock, while the entry was its own",
		line: o.client + " is told no, although the entry is its own",
	})
	p.entryEnds(s)
	p.spans = append(p.spans, span{"entry left", p.d.at(o.done), p.d.at(s.to)})
	p.next(s.to, "")
}

func (p *plot) falseRelease(o *op) bool {
	if o.grant == nil {
		return false
	}
	s := p.d.stayOf(o.grant.op)
	if s == nil {
		return false
	}
	p.granted(o.grant, "", "")
	p.add(moment{
		pos: o.done, lane: o.client, who: o.client,
		did:  "was told that it had released the lock, while its entry stayed",
		line: o.client + " is told that it released; its entry stays",
	})
	p.title = o.client + " was told that it had released " + p.lock() + ", and its entry stayed"
	p.entryEnds(s)
	return true
}

// entryEnds tells what became of an entry that nobody used.
func (p *plot) entryEnds(s *stay) {
	switch {
	case s.to == none:
	case s.how == history.Expire:
		var g *grant
		if s.op != nil {
			g = s.op.grant
		}
		p.expired(s.client(), g, s)
	case s.how == history.Lose:
		p.add(moment{
			pos: s.to, lane: s.server, who: s.server, did: "lost that entry",
			line: s.server + " loses the entry of " + s.client(),
		})
	case s.by != nil && s.op != nil && s.by.client != s.op.client:
		p.trespass(s)
	case s.by != nil:
		p.add(moment{
			pos: s.to, lane: s.server, who: "the " + s.by.f + " of " + s.by.client,
			did:  "removed that entry",
			line: "the " + s.by.f + " of " + s.by.client + " removes the entry",
		})
	}
}

// next tells who was granted the lock after a position.
func (p *plot) next(pos int, note string) {
	for _, g := range p.d.grants {
		if pos != none && g.got > pos {
			p.granted(g, note, "")
			return
		}
	}
}
