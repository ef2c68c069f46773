package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// answers tells of a client that was told what is not true.
func (p *plot) answers(witness []int) bool {
	for _, pos := range slices.Backward(witness) {
		o := p.d.ops[pos]
		if o == nil || o.done != pos || o.outcome == history.OK && o.grant == nil {
			continue
		}
		p.climax = o.done
		switch {
		case o.f == history.Release && o.grant != nil:
			return p.falseRelease(o)
		case o.f == history.Release:
			return false
		case o.outcome == history.OK:
			p.asks(o)
			p.title = o.client + " was told that it holds " + p.lock() + ", and no server had granted it"
			p.granted(o.grant, ", and no server had granted it", ", which no server has granted")
			return true
		default:
			return p.falseNo(o)
		}
	}
	return false
}

// falseNo tells of an acquire that said no and left its entry.
func (p *plot) falseNo(o *op) bool {
	s := o.left(func(s *stay) bool { return s.from < o.done && before(o.done, s.to) })
	if s == nil {
		return false
	}
	p.title = o.client + " was told that it did not get " + p.lock() + ", and the entry was its own"
	p.asks(o)
	p.makes("", s)
	p.unanswered(o)
	p.entryEnds(s)
	p.spans = append(p.spans, span{label: "entry stays", from: p.d.at(o.done), to: p.d.at(s.to)})
	kept := p.d.units.span(p.d.at(s.to) - p.d.at(o.done))
	p.next(s.to, ": that entry had kept it from everybody for another "+kept, "")
	if s.to == none {
		p.coda = "The entry was still there at the end."
	}
	return true
}

// left is an entry of o's that a test accepts, or else its last one; nil: none
// was seen.
func (o *op) left(accepts func(*stay) bool) *stay {
	if i := slices.IndexFunc(o.stays, accepts); i >= 0 {
		return o.stays[i]
	}
	if n := len(o.stays); n > 0 {
		return o.stays[n-1]
	}
	return nil
}

// falseRelease tells of a release that said yes and left the entry, or whose
// entry came back.
func (p *plot) falseRelease(o *op) bool {
	s := o.grant.op.left(func(s *stay) bool { return s.to == none })
	if s == nil {
		return false
	}
	p.title = o.client + " was told that it had released " + p.lock() + ", and its entry stayed"
	m := moment{
		pos: o.done, lane: o.client, actor: o.client, who: o.client,
		did:  "was told that it had released the lock, and its entry stayed",
		line: o.client + " is told that it released; its entry stays",
	}
	since := max(o.done, s.from)
	if s.from > o.done {
		p.title = o.client + " was told that it had released " + p.lock() + ", and its entry came back"
		m.did, m.line = "was told that it had released the lock", o.client+" is told that it released"
		p.climax = s.from
	}
	p.granted(o.grant, "", "")
	p.add(m)
	if s.back {
		p.isBack(s)
	} else if s.from > o.done {
		p.makes("", s)
	}
	p.spans = append(p.spans, span{label: "entry stays", from: p.d.at(since), to: p.d.at(s.to)})
	p.entryEnds(s)
	if s.to == none {
		p.coda = "The entry was still there at the end."
	}
	return true
}
