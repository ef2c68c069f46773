package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// plot is the content of a story: its moments in order, and the marks in the lanes.
// Each property has a function that collects them; shared functions are in
// moments.go.
type plot struct {
	d          *digest
	title      string // the verdict's title; "": use the witness's sentence
	moments    []moment
	said       map[int]bool // the entries that have a moment
	climax     int          // the position at which the violation has happened
	since      int          // the position from which a client waited; 0: the story is not about waiting
	clients    []string
	spans      []span
	more       []span // other overlaps of holds
	rides      []*op  // requests drawn from their invoke to their effect
	coda       string // the last sentence, without a moment
	whole      bool   // coda is about all of the run
	keeper     *grant // the grant that kept other clients out, if the story has told all about it
	everyFault bool   // no promise was broken: the story tells of every fault, or how many more there were
	intact     bool   // every update of the resource was computed from the value that it replaced
}

// span is a time that the lanes point out, as "both hold".
type span struct {
	label    string
	x, y     *grant // the holds that overlap, or nil
	from, to time.Duration
}

// names returns a label that says which holds overlap, or "".
func (s span) names() string {
	switch {
	case s.x == nil:
		return ""
	case s.x.client == s.y.client:
		return s.x.client + " twice"
	}
	return s.x.client + ", " + s.y.client + " hold"
}

// maxMoments is how many moments a story has: each is numbered by one digit.
const maxMoments = 9

// choose returns the violation that a story is about, or nil if the reader's promise
// covers no violation.
func choose(h *history.History, verdicts []checker.Verdict, o Options) *checker.Verdict {
	promised := promise(h, o)
	var best *checker.Verdict
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.Outcome != checker.Violated:
		case v.Property == o.About:
			return v
		case promised(v.Property) && (best == nil || telling(v.Property) < telling(best.Property)):
			best = v
		}
	}
	return best
}

// telling orders properties by how much a story of their violation explains.
func telling(p checker.Property) int {
	order := [...]checker.Property{
		checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Resource,
		checker.Fencing, checker.Answers, checker.Fairness, checker.Liveness, checker.Handover,
	}
	if i := slices.Index(order[:], p); i >= 0 {
		return i
	}
	return len(order)
}

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
	p := &plot{d: d.of(lock), said: map[int]bool{}, climax: len(h.Entries) - 1}
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
	p.surroundings()
	p.settle()
	p.further()
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
		return p.overlap(witness)
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

func (p *plot) empty() bool { return len(p.moments) == 0 }

// settle sorts the moments, and drops the least important ones if there are too many.
func (p *plot) settle() {
	p.order()
	p.gather()
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
	if len(p.moments) > maxMoments {
		p.moments = p.moments[:maxMoments]
	}
}

// grantsAt returns the grants whose acquires completed at the positions.
func (p *plot) grantsAt(witness []int) []*grant {
	var list []*grant
	for _, g := range p.d.grants {
		if slices.Contains(witness, g.got) {
			list = append(list, g)
		}
	}
	return list
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
