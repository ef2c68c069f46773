package report

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// answers tells of a client that got an untrue answer.
func (p *plot) answers(witness []int) bool {
	for i, pos := range slices.Backward(witness) {
		o := p.d.ops.at(pos)
		if g := p.d.renewedAt(pos, o); g != nil && i == len(witness)-1 {
			return p.falseRenewal(witness, g)
		}
		if o == nil || o.done != pos || o.outcome == history.OK && o.grant == nil {
			continue
		}
		p.climax = o.done
		switch {
		case o.f == history.Release && o.grant != nil:
			return p.falseRelease(o, witness)
		case o.f == history.Release:
			return false
		case o.outcome == history.OK:
			p.asks(o)
			p.title = o.client + " was told that it holds " + p.lock() + ", and no entry for it was visible"
			p.granted(o.grant, "", "")
			return true
		default:
			return p.falseNo(o)
		}
	}
	return false
}

// falseNo tells of an acquire that failed and left its entry.
func (p *plot) falseNo(o *op) bool {
	s := o.left(func(s *stay) bool { return s.from < o.done && before(o.done, s.to) })
	if s == nil {
		return false
	}
	p.title = o.client + " was told that it did not get " + p.lock() + ", and the entry was its own"
	p.asks(o)
	all := p.d.alongside(s)
	p.makes("", all...)
	p.unanswered(o)
	p.entriesEnd(all)
	p.spans = append(p.spans, span{label: "entry stays", from: p.d.at(o.done), to: p.d.at(s.to)})
	kept := p.d.units.span(p.d.at(s.to) - p.d.at(o.done))
	that := "that entry"
	if len(all) > 1 {
		that = "those entries"
	}
	p.next(s.to, ": "+that+" had kept it from everybody for another "+kept, "")
	if s.to == none {
		p.coda = "The entry was still there at the end."
	}
	return true
}

// left returns an entry of o that a test accepts, or else its last one, or nil if no
// line shows one.
func (o *op) left(accepts func(*stay) bool) *stay {
	if i := slices.IndexFunc(o.stays, accepts); i >= 0 {
		return o.stays[i]
	}
	return o.last()
}

// renewedAt returns the grant that the line at pos renews, or nil. The line is the
// completion of o or a report.
func (d *digest) renewedAt(pos int, o *op) *grant {
	switch e := &d.h.Entries[pos]; {
	case o != nil && o.f == history.Extend && o.done == pos && o.outcome == history.OK:
		return o.grant
	case e.F == history.Valid:
		return cmp.Or(d.knows.at(pos), d.byID[e.Grant])
	}
	return nil
}

// falseRenewal tells of a client that reports its grant as renewed although another
// client had been granted the lock in between.
func (p *plot) falseRenewal(witness []int, g *grant) bool {
	pos := witness[len(witness)-1]
	i := slices.IndexFunc(p.d.grants, func(o *grant) bool { return o.client != g.client && slices.Contains(witness, o.got) })
	if i < 0 {
		return false
	}
	other := p.d.grants[i]
	p.climax = pos
	was, is := "was told", "is told"
	if p.d.ops.at(pos) == nil {
		was, is = "said", "says"
	}
	p.title = g.client + " " + was + " that it still held " + p.lock() + ", and " + other.client + " had been granted it in between"
	p.holder(g)
	p.granted(other, "", "")
	p.leaves(other, side)
	p.prolongsAnother(p.d.ops.at(pos))
	m := acts(pos, g.client, was+" that it still held the lock, although "+other.client+" had been granted it in between",
		is+" that it still holds the lock; "+other.client+" was granted it in between")
	if until := g.until(pos); until > p.d.at(pos) {
		m.line += ", lease until " + p.d.units.at(until)
	}
	p.add(m)
	p.spans = append(p.spans, span{label: "gap", from: p.d.at(other.got), to: p.d.at(pos)})
	return true
}

// emptyRelease tells of a release that was ok although its entries, of which s was the last,
// had ended before.
func (p *plot) emptyRelease(o *op, s *stay) bool {
	p.title = o.client + " was told that it had released " + p.lock() + ", and its entry had ended before"
	p.granted(o.grant, "", "")
	p.entriesEnd(p.d.alongside(s))
	p.add(acts(o.invoke, o.client, "began to release the lock, of which it had no entry any more", "begins to release; no entry is left"))
	p.add(acts(o.done, o.client, "was told that it had released the lock", "is told that it released"))
	p.spans = append(p.spans, span{label: "no entry", from: p.d.at(s.to), to: p.d.at(o.done)})
	return true
}

// falseRefusal tells of a release that failed although it removed its entry.
func (p *plot) falseRefusal(o *op) bool {
	p.title = o.client + " was told that it had not released " + p.lock() + ", and its release removed the entry"
	p.granted(o.grant, "", "")
	p.entriesEnd(slices.DeleteFunc(slices.Clone(o.grant.op.stays), func(s *stay) bool { return s.by != o }))
	p.add(acts(o.done, o.client, "was told that it had not released the lock"+p.d.reason(o), "is told that it did not release"))
	return true
}

// falseRelease tells of a release that was ok although its entry stayed or came back.
func (p *plot) falseRelease(o *op, witness []int) bool {
	if o.outcome == history.Fail {
		return p.falseRefusal(o)
	}
	if i := slices.IndexFunc(o.grant.op.stays, func(s *stay) bool {
		return s.to < o.invoke && slices.Contains(witness, s.to) && slices.Contains(witness, s.from)
	}); i >= 0 {
		return p.emptyRelease(o, o.grant.op.stays[i])
	}
	s := o.grant.op.left(func(s *stay) bool { return s.to == none || slices.Contains(witness, s.to) })
	if s == nil {
		return false
	}
	did, does, came := ", and its entry stayed", "; its entry stays", "stayed"
	since := max(o.done, s.from)
	if s.from > o.done {
		did, does, came = "", "", "came back"
		p.climax = s.from
	}
	p.title = o.client + " was told that it had released " + p.lock() + ", and its entry " + came
	p.granted(o.grant, "", "")
	p.add(acts(o.done, o.client, "was told that it had released the lock"+did, "is told that it released"+does))
	if s.back {
		p.isBack(s)
	} else if s.from > o.done {
		p.makes("", p.d.alongside(s)...)
	}
	p.spans = append(p.spans, span{label: "entry stays", from: p.d.at(since), to: p.d.at(s.to)})
	p.entriesEnd(p.d.alongside(s))
	if s.to == none {
		p.coda = "The entry was still there at the end."
	}
	return true
}
