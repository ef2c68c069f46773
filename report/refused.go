package report

import (
	"fmt"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// refusals tells of a client that was refused at every try, while other clients were
// granted the lock between its tries, and none held it at any of them. It returns false
// for any other witness.
func (p *plot) refusals(witness []int) bool {
	first, last := witness[0], witness[len(witness)-1]
	who := client(&p.d.h.Entries[first])
	var tries []*op
	for _, o := range p.d.all {
		if o.client != who || !o.asks() || o.invoke < first || o.invoke > last {
			continue
		}
		held := func(g *grant) bool { return g.got < o.done && (g.end == none || g.end > o.invoke) }
		if o.outcome != history.Fail || slices.ContainsFunc(p.d.grants, held) {
			return false
		}
		tries = append(tries, o)
	}
	i := slices.IndexFunc(p.d.grants, func(g *grant) bool { return first < g.got && g.got < last })
	if len(tries) < 2 || i < 0 {
		return false
	}
	p.climax = last
	s := span{label: "refused", from: p.d.at(first), to: p.d.at(last)}
	p.spans = append(p.spans, s)
	n := number(int64(len(tries)))
	p.title = fmt.Sprintf("%s was refused %s at each of %s tries %s, while nobody held it", who, p.lock(), n, p.during(s))
	p.wants(tries[0], key)
	p.granted(p.d.grants[i], ", between two of these tries", "")
	p.leaves(p.d.grants[i], side)
	_, did, does := p.ended(tries[len(tries)-1])
	p.add(acts(last, who, did+", at the last of "+n+" tries", does+", at the last of "+n+" tries"))
	return true
}
