package report

import "fmt"

// bare tells of a witness about which only its lines are known.
func (p *plot) bare(witness []int) {
	p.title = ""
	for _, pos := range witness {
		e := &p.d.h.Entries[pos]
		who := e.Process.Name
		if e.Process.Client() {
			who = client(e)
			p.with(who)
		}
		what := e.F
		if e.Process.Client() {
			what = fmt.Sprintf("%s %s", e.Type, e.F)
		}
		p.add(moment{pos: pos, lane: who, who: who, did: "noted “" + what + "”", line: who + ": " + what})
	}
}
