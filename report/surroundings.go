package report

import (
	"slices"
	"strings"
)

// surroundings adds the faults that struck those in the story before it was
// over, and the ends of their pauses.
func (p *plot) surroundings() {
	if p.empty() {
		return
	}
	first, last := p.moments[0].pos, p.moments[0].pos
	for _, m := range p.moments {
		first, last = min(first, m.pos), max(last, m.pos)
	}
	p.promotes(first)
	for _, f := range p.d.faults {
		if f.start > p.climax || before(f.end, first) || !p.concerns(f) {
			continue
		}
		w := f.words()
		lane := p.lane(f)
		who, did := p.d.clause(f, w.past)
		p.add(moment{
			pos: f.start, lane: lane, who: who, did: did, where: f.where(who),
			line: p.d.fill(f, w.now), weight: side, obvious: strings.HasSuffix(f.point, afterOK),
		})
		if w.over != "" && before(f.end, last+1) {
			line := p.d.fill(f, w.over)
			end := moment{pos: f.end, lane: lane, line: line, weight: detail}
			if f.kind == pause {
				end.actor, end.who, end.did = f.whom(), f.whom(), "woke up"
				end.weight, end.wakes = side, true
			}
			p.add(end)
		}
	}
}

// concerns tells whether a fault struck a client of the story, or a server.
func (p *plot) concerns(f *fault) bool {
	if f.kind == cutOff && len(p.d.promotions) > 0 {
		return true // what a replica was not sent is missing when it becomes the master
	}
	return f.hit() && slices.ContainsFunc(f.victims(), func(name string) bool {
		return slices.Contains(p.clients, name) || p.d.serves(name)
	})
}

// lane is where the number of a fault stands: at the first that it struck and
// that has a lane.
func (p *plot) lane(f *fault) string {
	for _, name := range f.victims() {
		if slices.Contains(p.clients, name) {
			return name
		}
	}
	for _, name := range f.victims() {
		if p.d.serves(name) {
			return name
		}
	}
	return f.on[0]
}

// clause is a phrase of the vocabulary as subject and predicate.
func (d *digest) clause(f *fault, phrase string) (who, did string) {
	text := d.fill(f, phrase)
	for _, who := range []string{f.clock(), f.whom(), "the network", "other data"} {
		if did, ok := strings.CutPrefix(text, who+" "); ok {
			return who, did
		}
	}
	who, did, _ = strings.Cut(text, " ")
	return who, did
}
