package report

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// resource tells of a write that was not computed from the value in whose
// place it came.
func (p *plot) resource(witness []int) bool {
	for _, pos := range slices.Backward(witness) {
		i := slices.IndexFunc(p.d.visits, func(v *visit) bool {
			return v.f == history.Write && (v.pos == pos || v.op != nil && (v.op.invoke == pos || v.op.done == pos))
		})
		if i < 0 {
			continue
		}
		v := p.d.visits[i]
		lost := p.d.overwritten(v)
		if lost == nil {
			continue
		}
		p.clobbers(v, lost)
		return true
	}
	return false
}

// clobbers tells how a write came to destroy another.
func (p *plot) clobbers(v, lost *visit) {
	p.title = fmt.Sprintf("%s's write at %s replaced %s's %s, which it had not read",
		v.client, p.d.units.at(p.d.at(v.pos)), lost.client, value(lost.value))
	p.climax = v.pos
	p.stale(v)
	y := lost.grant
	switch {
	case y == nil || y == v.grant:
	case v.grant.holds(y.got):
		p.enters(y, v.grant)
	case y.holds(v.grant.got):
		p.granted(y, "", "")
		p.spans = append(p.spans, both(p.d, y, v.grant))
	default:
		p.granted(y, "", "")
	}
	p.overwriting(v)
}

// stale tells how an access came to be late: under which grant it was made,
// when it left, and how that grant ended.
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
