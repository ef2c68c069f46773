package report

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// surroundings adds the faults that struck the story's clients and servers before it
// was over, and the ends of the clients' pauses.
func (p *plot) surroundings() {
	if p.empty() {
		return
	}
	first, last := p.moments[0].pos, p.moments[0].pos
	for _, m := range p.moments {
		first, last = min(first, m.pos), max(last, m.pos)
	}
	if p.since > 0 {
		first = min(first, p.since)
	}
	p.promotes(first, last)
	faults := p.atOnce(p.d.faults)
	slices.SortStableFunc(faults, func(a, b *fault) int { return cmp.Compare(a.start, b.start) })
	room := len(p.moments) + 2*maxMoments // a story has no room for later faults
	for _, f := range faults {
		if len(p.moments) > room {
			break
		}
		if f.start > p.climax && f.begins < p.climax && len(p.d.stays) == 0 {
			// No line shows when its effect came, but by the climax it had happened.
			f.start, f.sure, f.bounded = p.climax-1, p.climax, true
		}
		start := f.start
		past := before(f.end, first)
		if start > max(p.climax, last) || past && !p.everyFault || !p.concerns(f) || p.beyond(f, last) {
			continue
		}
		lane, weight := p.lane(f), side
		if past || start > p.climax || !p.touches(f) {
			weight = detail
		}
		who, did := p.d.clause(f, f.Words.Past)
		where := f.where(who, p.d.h.Header.Nodes)
		if p.d.at(max(start, f.sure))-p.d.at(f.begins) > p.d.slack() { // the fault took its time
			where = strings.Replace(where, "just after ", "after ", 1)
		}
		m := moment{
			pos: start, lane: lane, who: who, did: did, where: where, point: f.point,
			line: p.d.fill(f, f.Words.Now), weight: weight, faults: append(f.merged, f.begins), obvious: strings.HasSuffix(f.point, afterOK),
		}
		if p.d.blurred(f) {
			from, to := p.d.strike(f)
			m.between = p.d.units.at(from) + " and " + p.d.units.at(to)
			began := " ("
			if strings.Contains(m.line, ", until ") {
				began = " (begins "
			}
			m.line += began + "between " + m.between + ")"
		}
		if f.sure > start { // no line says when it came: it had by the entry that shows it
			m.pos, m.at, m.noEntry = f.sure, p.d.at(f.sure), true
		}
		p.add(m)
		if f.Words.Over != "" && before(f.end, last+1) {
			line := p.d.fill(f, f.Words.Over)
			if p.d.lingers(f) {
				line += " (between " + p.d.units.at(p.d.at(f.heals)) + " and " + p.d.units.at(p.d.at(f.end)) + ")"
			}
			end := moment{pos: f.end, lane: lane, line: line, weight: minor}
			if p.d.h.Entries[f.end].Process.Name != history.Nemesis { // a line that shows its end
				end.at, end.noEntry = p.d.at(f.end), true
			}
			if f == p.recovers {
				end.who, end.did = p.d.clause(f, f.Words.Over)
				end.did, end.weight = strings.NewReplacer("is back", "was back", "are back", "were back").Replace(end.did), side
			}
			if f.Name == pause {
				end.actor, end.who, end.did = f.whom(), f.whom(), "woke up"
				end.weight, end.wakes = weight, true
			}
			p.add(end)
		}
	}
}

// beyond reports whether f struck at a point of an operation that the story does not
// reach: the story ends at last and has no such grant.
func (p *plot) beyond(f *fault, last int) bool {
	name, _, _ := strings.Cut(f.point, " ")
	n := sort.Search(len(p.d.all), func(i int) bool { return p.d.all[i].invoke > f.begins })
	for _, o := range slices.Backward(p.d.all[:n]) {
		if o.client == name || o.invoke <= last {
			return o.invoke > last && (o.grant == nil || !p.said[o.grant.got])
		}
	}
	return false
}

// atOnce merges the deaths of several clients of the story at one time.
func (p *plot) atOnce(all []*fault) (list []*fault) {
	for _, f := range all {
		n := len(list) - 1
		if n >= 0 && f.Ends && f.Name != history.Exit && list[n].Name == f.Name && f.point == "" && list[n].point == "" &&
			p.d.atOnce(list[n].start, f.start) && p.concerns(f) && p.concerns(list[n]) {
			both := *list[n]
			both.on = append(slices.Clone(both.on), f.on...)
			slices.SortFunc(both.on, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
			both.merged = append(slices.Clone(both.merged), f.begins)
			both.latest = max(both.latest, f.latest)
			list[n] = &both
			continue
		}
		list = append(list, f)
	}
	return list
}

// concerns reports whether a fault struck a client of the story, or a server. A story
// without a violation is about all faults.
func (p *plot) concerns(f *fault) bool {
	return p.everyFault && f.hit() || p.touches(f)
}

// touches reports whether a fault struck a client of the story, or a server.
func (p *plot) touches(f *fault) bool {
	if s, _ := p.d.tampered(f); s != nil {
		return slices.Contains(p.clients, s.client())
	}
	if f.Name == cutOff && len(p.d.promotions) > 0 {
		return true // an entry that a replica did not get is missing when it becomes the master
	}
	return f.hit() && slices.ContainsFunc(f.victims(), func(name string) bool {
		return slices.Contains(p.clients, name) || p.d.serves(name)
	})
}

// lane returns the lane of a fault's number: that of the first victim with a lane.
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
	if s, _ := p.d.tampered(f); s != nil {
		return s.server // the leader, which has reported it
	}
	return f.on[0]
}

// promotes tells of the promotions that matter to the story, and of the entries that
// replaced servers threw away. It tells of those between its first moment and its
// climax, and of servers that were cut off or down before it began, and still were
// when it did.
func (p *plot) promotes(first, last int) {
	for _, s := range p.d.stays {
		if _, yes := p.d.resigned(s); yes && !s.missing && first < s.to && s.to < last {
			p.add(moment{
				pos: s.to, lane: s.server, weight: side,
				line: s.server + " throws " + s.owner() + " entry away",
			})
		}
	}
	room := len(p.moments) + maxMoments
	for _, x := range p.d.promotions {
		if x.pos > p.climax || len(p.moments) > room || x.pos < first && !p.lasts(&x, first) {
			continue
		}
		m := happens(x.pos, x.server, "took the place of "+x.old, "takes the place of "+x.old).weighing(side)
		if p.d.survived(&x) {
			m.did += ", which was still running"
			m.line += ", which is still running"
		}
		p.add(m)
	}
}

// lasts reports whether a fault that led to x was still there at first.
func (p *plot) lasts(x *promotion, first int) bool {
	return slices.ContainsFunc(p.d.faults, func(f *fault) bool {
		return f.strikes(x.old) && !f.link() && f.start < x.pos && !before(f.end, first)
	})
}
