package report

import (
	"fmt"
	"strconv"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// overlap tells of two who held at the same time: how the first lost its
// entry, how the second came in, and what they did to the resource.
func (p *plot) overlap(witness []int) bool {
	g := p.grantsAt(witness)
	if len(g) < 2 {
		return false
	}
	x, y := g[0], g[1]
	p.climax = y.got
	p.title = fmt.Sprintf("%s and %s held %s at the same time, %s",
		x.client, y.client, p.lock(), p.during(p.together(x, y)))
	if !p.holder(x) {
		p.staleAnswer(y)
	}
	p.enters(y, x)
	p.aftermath(x, y)
	return true
}

// lock is the lock's name as a title has it.
func (p *plot) lock() string {
	if p.d.lock == "" {
		return "the lock"
	}
	return strconv.Quote(p.d.lock)
}

// together is the time in which both held; the lanes show it.
func (p *plot) together(x, y *grant) span {
	end := x.end
	if before(y.end, end) {
		end = y.end
	}
	s := span{"both hold", p.d.at(y.got), p.d.at(end)}
	p.spans = append(p.spans, s)
	return s
}

// during is a span in words.
func (p *plot) during(s span) string {
	from, to := p.d.units.at(s.from), p.d.units.at(s.to)
	if from == to {
		return "at " + from
	}
	return "from " + from + " to " + to
}

// staleAnswer tells how the entry of a grant went before its client had heard
// of it.
func (p *plot) staleAnswer(y *grant) {
	if s := p.d.stayOf(y.op); s != nil && before(s.to, y.got) {
		p.loss(y, 1)
	}
}

// enters tells that y was granted the lock while x held it.
func (p *plot) enters(y, x *grant) {
	note := ": from then on both held it"
	if until := x.until(y.got); until > p.d.at(y.got) {
		note = ", although the lease of " + x.client + " ran until " + p.d.units.at(until) + note
	}
	p.granted(y, note, ": both hold it")
}

// aftermath tells what those who held together did: updates that were lost,
// accesses that were refused, entries that were removed.
func (p *plot) aftermath(x, y *grant) {
	harmed := false
	for _, v := range p.d.visits {
		if v.pos < p.climax || v.grant != x && v.grant != y {
			continue
		}
		switch {
		case v.f == history.Refuse:
			p.refusal(v)
			harmed = true
		case v.f != history.Write:
		case p.overwrites(v) != nil:
			p.overwriting(v)
			harmed = true
		default:
			p.writing(v)
		}
	}
	for _, s := range p.d.stays {
		if s.by == nil || s.op == nil || s.by == s.op || s.op.grant == nil || s.by.grant == s.op.grant || s.to < p.climax {
			continue
		}
		if s.how != history.Remove && s.how != history.Takeover || s.by.grant != x && s.by.grant != y || s.op.grant != x && s.op.grant != y {
			continue
		}
		harmed = true
		p.trespass(s)
		p.intruder(s)
	}
	if !harmed {
		p.coda = "Nothing was overwritten this time."
	}
}

// intruder tells who was granted the lock because an entry had been removed.
func (p *plot) intruder(s *stay) {
	victim := s.op.grant
	for _, g := range p.d.grants {
		if g.got > s.to {
			if g != victim && victim.holds(g.got) {
				p.enters(g, victim)
				p.together(victim, g)
			}
			return
		}
	}
}

// overwrites is the write that v destroyed: one made after v's client had read
// the value from which it computed v. nil: there is none.
func (p *plot) overwrites(v *visit) *visit {
	var read, lost *visit
	for _, o := range p.d.visits {
		if o.pos >= v.pos {
			break
		}
		switch {
		case o.grant == v.grant && o.client == v.client && o.f == history.Read:
			read, lost = o, nil
		case o.f == history.Write && o.grant == v.grant:
			lost = nil
		case o.f == history.Write:
			lost = o
		}
	}
	if read == nil || v.grant == nil {
		return nil
	}
	return lost
}

// overwriting tells that a write destroyed another.
func (p *plot) overwriting(v *visit) {
	lost := p.overwrites(v)
	p.writing(lost)
	p.with(v.client)
	p.ride(v.op)
	whose := lost.client
	if whose == v.client {
		whose = "its own"
	} else {
		whose += "'s"
	}
	m := moment{
		pos: v.pos, lane: history.Resource, who: v.client,
		did: fmt.Sprintf("wrote %s over %s %s, which it had not read: the update of %s was lost",
			value(v.value), whose, value(v.was), lost.client),
		line: fmt.Sprintf("%s writes %s over %s %s: that update is lost", v.client, value(v.value), whose, value(v.was)),
	}
	if p.arrivesLate(v) {
		m.who = "the write of " + v.client
		m.did = fmt.Sprintf("arrived and put %s over %s %s, which %s had not read: the update of %s was lost",
			value(v.value), whose, value(v.was), v.client, lost.client)
		m.line = fmt.Sprintf("the write of %s arrives: %s over %s %s, which is lost", v.client, value(v.value), whose, value(v.was))
	}
	p.add(m)
}

// arrivesLate tells whether a write was travelling after its client had stopped
// waiting for it.
func (p *plot) arrivesLate(v *visit) bool { return v.op != nil && before(v.op.done, v.pos) }

// writing shows a write that destroyed nothing.
func (p *plot) writing(v *visit) {
	p.with(v.client)
	p.add(moment{
		pos: v.pos, lane: history.Resource, weight: detail,
		line: fmt.Sprintf("%s writes %s", v.client, value(v.value)),
	})
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
	with, short := "", ""
	if highest > 0 {
		with = fmt.Sprintf(": its token %d was older than %d, which had been seen", v.token, highest)
		short = fmt.Sprintf(": token %d is older than %d", v.token, highest)
	}
	p.with(v.client)
	p.add(moment{
		pos: v.pos, lane: history.Resource, who: "the resource",
		did:  fmt.Sprintf("refused the %s of %s%s", what, v.client, with),
		line: fmt.Sprintf("the resource refuses the %s of %s%s", what, v.client, short),
	})
}

func value(o history.Opt) string {
	if !o.Set {
		return "a value"
	}
	return number(o.V)
}

var _ = checker.Exclusion
