package report

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// resource tells of a write that was not computed from the value that it replaced.
func (p *plot) resource(witness []int) bool {
	for _, pos := range slices.Backward(witness) {
		i := slices.IndexFunc(p.d.visits, func(v *visit) bool {
			return v.f == history.Write && (v.pos == pos || v.op != nil && (v.op.invoke == pos || v.op.done == pos))
		})
		if i < 0 {
			continue
		}
		v := p.d.visits[i]
		if over, lost := p.d.overwritten(v); over {
			p.clobbers(v, lost)
			return true
		}
	}
	return p.disputed(witness)
}

// disputed tells of reads and writes that clients report and that cannot all be true.
func (p *plot) disputed(witness []int) bool {
	told := false
	for _, pos := range witness {
		o := p.d.ops.at(pos)
		if o == nil || o.f != history.Read && o.f != history.Write {
			continue
		}
		told = true
		p.with(o.client)
		if o.grant != nil {
			p.granted(o.grant, "", "")
		}
		v := value(p.d.value(o))
		if pos != o.done {
			p.add(acts(pos, o.client, "began its "+o.f+" of "+v, "begins its "+o.f+" of "+v))
			continue
		}
		done := "written "
		if o.f == history.Read {
			done = "read "
		}
		p.add(acts(pos, o.client, "had "+done+v, "has "+done+v).in(history.Resource))
	}
	return told
}

// clobbers tells how a write destroyed another; lost is nil if the other is unknown.
func (p *plot) clobbers(v, lost *visit) {
	old := value(v.was)
	var y *grant
	if lost != nil {
		old, y = lost.whose("")+" "+old, lost.grant
	}
	p.title = fmt.Sprintf("%s's write at %s replaced %s, which it had not read", v.client, p.d.units.at(p.d.at(v.pos)), old)
	p.climax = v.pos
	first := y != nil && y != v.grant && !v.grant.holds(y.got) && y.holds(v.grant.got)
	if first { // the writer came in while the other held
		p.comesIn(v.grant, y)
	}
	p.stale(v)
	switch {
	case first || y == nil || y == v.grant:
	case v.grant.holds(y.got):
		p.comesIn(y, v.grant)
	default:
		p.granted(y, "", "")
	}
	p.overwriting(v)
	if first {
		p.say(lost.pos, y.client, p.tense("wrote", "had written")+" "+value(lost.value))
	}
}

// stale tells why an access was late: its grant, the time when it left, and how that
// grant ended.
func (p *plot) stale(v *visit) {
	g := v.grant
	p.granted(g, "", "")
	p.reading(v)
	p.loss(g, 1)
	p.sending(v)
	if g.release != nil && before(g.release.invoke, v.pos) {
		p.leaves(g, side)
	}
}
