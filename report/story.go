package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// newPlot collects the moments of a story.
func newPlot(h *history.History, verdicts []checker.Verdict, subject *checker.Verdict) *plot {
	d := newDigest(h)
	if len(d.all) == 0 {
		return &plot{d: d.of("")}
	}
	lock := d.all[0].lock
	var witness []int
	if subject != nil && subject.Witness != nil {
		for _, pos := range subject.Witness.Entries {
			if pos < 0 || pos >= len(h.Entries) {
				continue
			}
			witness = append(witness, pos)
			if h.Entries[pos].Process.Name != history.Nemesis {
				lock = d.lockAt(pos)
			}
		}
	}
	slices.Sort(witness)
	p := &plot{d: d.of(lock), said: map[int]bool{}, climax: len(h.Entries) - 1, extended: none}
	p.intact = slices.ContainsFunc(verdicts, func(v checker.Verdict) bool {
		return v.Property == checker.Resource && v.Outcome == checker.Valid
	})
	if p.everyFault = subject == nil; p.everyFault {
		p.calm()
	} else if !p.tellOf(subject.Property, witness) {
		p.bare(witness)
	} else {
		p.apart()
	}
	p.renewals()
	p.besides()
	p.surroundings()
	p.settle()
	p.further()
	p.losses()
	if subject != nil && subject.Property == checker.Handover {
		p.longer()
	}
	if p.everyFault && !p.whole && !p.empty() {
		p.coda = strings.TrimSpace(p.coda + " " + p.rest())
	}
	if p.everyFault && slices.ContainsFunc(verdicts, func(v checker.Verdict) bool {
		return v.Property == checker.Handover && v.Outcome == checker.Valid
	}) {
		p.coda = strings.TrimSpace(p.coda + " " + p.excused())
	}
	return p
}

// tellOf tells of a violation. It returns false if the witness lacks the facts for
// such a story.
func (p *plot) tellOf(property checker.Property, witness []int) bool {
	switch property {
	case checker.Exclusion, checker.LeaseExclusion:
		return p.overlap(witness, property == checker.LeaseExclusion)
	case checker.Ownership:
		return p.ownership(witness)
	case checker.Resource:
		return p.resource(witness)
	case checker.Fencing:
		return p.fencing(witness)
	case checker.Answers:
		return p.answers(witness)
	case checker.Liveness, checker.Handover:
		return p.waiting(witness, property == checker.Liveness)
	case checker.Fairness:
		return p.fairness(witness)
	}
	return false
}

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

// settle sorts the moments, and drops the least important ones if there are too many.
func (p *plot) settle() {
	p.order()
	p.gather()
	p.blame()
	for weight := minor; len(p.moments) > maxMoments && weight > key; weight-- {
		room := maxMoments
		for i := range p.moments {
			if p.moments[i].weight < weight {
				room--
			}
		}
		p.moments = slices.DeleteFunc(p.moments, func(m moment) bool {
			if m.weight == weight {
				room--
			}
			return m.weight == weight && room < 0
		})
	}
	p.shorten()
}

// shorten drops key moments of a story that is still too long: the last ones after the
// climax, then the first ones that are no faults, then the first faults.
func (p *plot) shorten() {
	for len(p.moments) > maxMoments {
		i := len(p.moments) - 1
		if p.moments[i].pos <= p.climax {
			i = max(0, slices.IndexFunc(p.moments, func(m moment) bool { return m.faults == nil && m.pos < p.climax }))
		}
		p.moments = slices.Delete(p.moments, i, i+1)
	}
}

// blame keeps the last fault before the climax in the story of a violation, however long
// that is: it is the cause, or a part of it.
func (p *plot) blame() {
	if p.everyFault {
		return
	}
	for i := range slices.Backward(p.moments) {
		if m := &p.moments[i]; m.faults != nil && m.weight <= side && m.pos <= p.climax {
			m.weight = key
			return
		}
	}
}

// order sorts the moments, and the lanes of clients by their first ones.
func (p *plot) order() {
	slices.SortStableFunc(p.moments, func(a, b moment) int {
		if a.pos == b.pos && a.noEntry != b.noEntry {
			if a.noEntry {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.pos, b.pos)
	})
	for i := range p.moments {
		m := &p.moments[i]
		if slices.ContainsFunc(p.moments[:i], func(o moment) bool { return strings.Contains(o.did, longerThan) }) {
			m.did = strings.Replace(m.did, longerThan+p.d.units.span(p.d.h.Header.Lease()), "", 1)
		}
		if m.gets && slices.ContainsFunc(p.moments[:i], func(o moment) bool { return o.gets && o.actor == m.actor }) {
			m.did = strings.Replace(m.did, "granted the lock", "granted the lock again", 1)
			m.line = strings.Replace(m.line, "acquires the lock", "acquires the lock again", 1)
		}
	}
	for i := len(p.moments) - 1; i > 0; i-- {
		release, m := &p.moments[i-1], &p.moments[i]
		if m.answered == "" || m.answers != release.pos {
			continue
		}
		at := "; at " + p.d.units.at(m.at) + " it "
		if release.did != "" {
			release.did += at + m.answered
		}
		release.line += at + m.reads
		p.moments = slices.Delete(p.moments, i, i+1)
	}
	first := func(client string) int {
		i := slices.IndexFunc(p.moments, func(m moment) bool { return m.lane == client })
		if i < 0 {
			return len(p.moments)
		}
		return i
	}
	slices.SortStableFunc(p.clients, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
}
