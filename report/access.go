package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// overwritten reports whether v replaced a value other than the one that its grant
// had read or written before, as package checker sees it. lost is the write of that
// value, or nil if it is unknown.
func (d *digest) overwritten(v *visit) (over bool, lost *visit) {
	if v.f != history.Write || v.grant == nil || !v.was.Set {
		return false, nil
	}
	basis, since := d.basis(v)
	if basis == nil || !basis.value.Set || basis.value == v.was {
		return false, nil
	}
	if n := len(since) - 1; !d.told && n >= 0 && since[n].value == v.was {
		return true, since[n]
	}
	return true, nil
}

// basis returns the last access from which v's grant knew a value when it sent v, or nil, and
// the writes since then.
func (d *digest) basis(v *visit) (basis *visit, since []*visit) {
	n, _ := slices.BinarySearchFunc(d.visits, v.pos, func(o *visit, pos int) int { return cmp.Compare(o.pos, pos) })
	sent, from := v.learnt(), 0
	for i, o := range slices.Backward(d.visits[:n]) {
		if basis != nil && o.pos < basis.learnt() {
			break
		}
		unknown := o.f == history.Read && o.op != nil && o.op.outcome != history.OK // its answer did not come
		if o.f != history.Refuse && !unknown && o.grant != nil && o.grant.nest == v.grant.nest &&
			o.learnt() < sent && (basis == nil || o.learnt() > basis.learnt()) {
			basis, from = o, i+1
		}
	}
	for _, o := range d.visits[from:n] {
		if o.f == history.Write {
			since = append(since, o)
		}
	}
	return basis, since
}

// learnt returns the position from which v's client knew its value: the invoke of a write,
// and the answer to a read.
func (v *visit) learnt() int {
	switch {
	case v.op == nil:
		return v.pos
	case v.f == history.Write:
		return v.op.invoke
	}
	return v.op.done
}

// destroys returns the writes that v destroyed, in their order. It leaves out those that
// another one of them had destroyed before.
func (d *digest) destroys(v *visit) []*visit {
	_, since := d.basis(v)
	lost := slices.Clone(since)
	for _, u := range since {
		if over, _ := d.overwritten(u); over {
			basis, _ := d.basis(u)
			lost = slices.DeleteFunc(lost, func(o *visit) bool { return basis.pos < o.pos && o.pos < u.pos })
		}
	}
	return lost
}

func (p *plot) overwrites(v *visit) bool {
	over, _ := p.d.overwritten(v)
	return over
}

// overwriting tells that a write destroyed another.
func (p *plot) overwriting(v *visit) {
	_, lost := p.d.overwritten(v)
	p.with(v.client)
	p.ride(v.op)
	now, old := value(v.value), value(v.was)
	var all []*visit
	so, short, late := "", ", which it had not read", ", which "+v.client+" had not read"
	if lost != nil {
		if lost.grant != nil {
			p.granted(lost.grant, "", "")
		}
		p.writing(lost)
		old = lost.whose(v.client) + " " + old
		so, short = ": "+lost.whose("")+" update was lost", ": that update is lost"
		if all = p.d.destroys(v); len(all) > 1 {
			what := p.updates(all)
			so, short = ": "+what+" were lost", ": "+what+" are lost"
		}
	}
	over := " " + now + " over " + old
	m := acts(v.pos, v.client, p.tense("wrote", "had written")+over+", which it had not read"+so, p.tense("writes", "has written")+over+short)
	if v.astray() {
		m = happens(v.pos, possessive(v.client)+" write", "arrived and put"+over+late+so, "arrives:"+over)
		switch {
		case len(all) > 1:
			m.line += short
		case lost != nil:
			m.line += ", which is lost"
		}
	}
	p.add(m.in(history.Resource))
}

// updates names several writes by their clients: "2 updates of c2", "the updates of c2
// and c3". It shows a few of them, whose clients have a lane.
func (p *plot) updates(all []*visit) string {
	var names []string
	for _, v := range all {
		if len(all) <= 3 && slices.Contains(p.clients, v.client) {
			p.writing(v)
		}
		if name := cmp.Or(v.client, "somebody"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(names); {
	case n > 3:
		return fmt.Sprintf("%d updates of %d clients", len(all), n)
	case n == 1:
		return fmt.Sprintf("%d updates of %s", len(all), names[0])
	}
	return "the updates of " + list(names)
}

// whose returns the client of v as a possessor, for a sentence about another client.
func (v *visit) whose(other string) string {
	switch v.client {
	case "":
		return "somebody's"
	case other:
		return "its own"
	}
	return possessive(v.client)
}

// astray reports whether an access was still under way when its client had stopped
// waiting for it, or had learned that it no longer held.
func (v *visit) astray() bool {
	if v.op == nil {
		return false
	}
	g := v.grant
	return before(v.op.done, v.pos) || g != nil && g.lost && v.op.invoke < g.end && g.end < v.pos
}

// tense returns the phrase for an access at its moment: a client reports an access
// only when it is over.
func (p *plot) tense(now, over string) string {
	if p.d.told {
		return over
	}
	return now
}

// writing shows a write that destroyed nothing.
func (p *plot) writing(v *visit) {
	p.with(v.client)
	who := cmp.Or(v.client, "somebody")
	p.add(moment{
		pos: v.pos, lane: history.Resource, weight: detail,
		line: fmt.Sprintf("%s %s %s", who, p.tense("writes", "has written"), value(v.value)),
	})
}

// say gives a moment of the list a sentence.
func (p *plot) say(pos int, who, did string) {
	for i := range p.moments {
		if m := &p.moments[i]; m.pos == pos && m.did == "" {
			m.who, m.actor, m.did, m.weight = who, who, did, side
		}
	}
}

// reading shows the read from which a write was computed.
func (p *plot) reading(v *visit) {
	var read *visit
	for _, o := range p.d.visits {
		if o.pos < v.pos && o.grant != nil && o.grant.nest == v.grant.nest && o.f == history.Read {
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

// sending tells when an access left that arrived after its client had given it up.
func (p *plot) sending(v *visit) {
	if !v.astray() {
		return
	}
	what := fmt.Sprintf("its %s of %s", v.op.f, value(v.value))
	p.ride(v.op)
	p.add(acts(v.op.invoke, v.client, "began "+what, "begins "+what))
	if v.op.outcome == history.Info {
		p.add(acts(v.op.done, v.client, "stopped waiting for an answer to its "+v.op.f, "stops waiting for an answer").weighing(side))
	}
}

// refusal tells that the resource turned an access away.
func (p *plot) refusal(v *visit) {
	what := history.Read
	if v.op != nil {
		what = v.op.f
	} else if v.value.Set {
		what = history.Write
	}
	var highest uint64
	for _, o := range p.d.visits {
		if o.pos < v.pos && o.f != history.Refuse {
			highest = max(highest, o.token)
		}
	}
	seen, short := "", ""
	if highest > v.token {
		seen = fmt.Sprintf(": it came with token %d, and the resource had seen %d", v.token, highest)
		short = fmt.Sprintf(": token %d, after %d", v.token, highest)
	}
	p.with(v.client)
	p.add(moment{
		pos: v.pos, lane: history.Resource, actor: v.client, who: "the resource",
		did:  fmt.Sprintf("refused %s %s%s", possessive(v.client), what, seen),
		line: fmt.Sprintf("the resource refuses %s %s%s", possessive(v.client), what, short),
	})
}

func value(o history.Opt) string {
	if !o.Set {
		return "a value"
	}
	return number(o.V)
}
