package report

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// fencing tells of tokens that do not grow.
func (p *plot) fencing(witness []int) bool {
	g := p.grantsAt(witness)
	if len(g) < 2 {
		return false
	}
	x, y := g[0], g[1]
	p.climax = y.got
	p.holder(x)
	whose, who := possessive(x.client), x.client
	if x.client == y.client {
		whose, who = "its own before", "it"
	}
	note, now := ": the same as "+whose, ", the same token again"
	p.title = fmt.Sprintf("%s and later %s got token %d", x.client, y.client, y.token)
	if x.token != y.token {
		note = fmt.Sprintf(": smaller than the %d that %s had got before", x.token, who)
		now = fmt.Sprintf(", after %d", x.token)
		p.title = fmt.Sprintf("%s got token %d, and later %s got token %d", x.client, x.token, y.client, y.token)
	}
	p.granted(y, note, now)
	if x.holds(y.got) {
		p.spans = append(p.spans, both(p.d, x, y))
	}
	p.harm(x, y)
	return true
}

// harm tells the first damage that those tokens did at the resource.
func (p *plot) harm(x, y *grant) {
	for _, v := range p.d.visits {
		if v.pos < p.climax || v.grant != x && v.grant != y {
			continue
		}
		if v.f == history.Refuse {
			p.refusal(v)
			return
		}
		if p.overwrites(v) {
			p.overwriting(v)
			return
		}
	}
}
