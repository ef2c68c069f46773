package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// nobodyHolds is the label of a time in which a client waited for a lock that nobody held.
const nobodyHolds = "nobody holds"

// waiting tells of a lock that was not granted to any client: the waiters, the entry
// that was in the way, why it stayed, and how the wait ended. kept allows the
// explanation that a client kept the lock.
func (p *plot) waiting(witness []int, kept bool) bool {
	if len(witness) == 0 {
		return false
	}
	if kept && p.refusals(witness) {
		return true
	}
	first, last := witness[0], witness[len(witness)-1]
	free, found := p.longestFree(first, last)
	whole := p.d.at(last) - p.d.at(first)
	if length := p.d.at(free.end) - p.d.at(free.begin); !found || kept && length < whole/2 {
		p.kept(witness, gap{first, last})
		return true
	}
	p.climax = free.end
	waits, asked := p.waiters(witness, free)
	if asked != nil {
		p.since = max(asked.invoke, free.begin)
	}
	s := span{label: nobodyHolds, from: p.d.at(free.begin), to: p.d.at(free.end)}
	if asked != nil && slices.Contains(witness, asked.invoke) {
		s.from = max(s.from, p.d.at(asked.invoke))
	}
	p.spans = append(p.spans, s)
	p.title = fmt.Sprintf("nobody held %s %s while %s", p.lock(), p.during(s), waits)

	entry := p.blocker(free)
	if asked != nil && !(p.d.queue && len(asked.stays) > 0) && (entry == nil || asked.invoke > entry.from) {
		p.asks(asked)
	}
	if asked != nil && !p.split(free, 1) {
		p.vain(asked)
	}
	next := asked
	if g := p.grantAt(free.end); g != nil {
		next = g.op
	}
	p.absent(next, free)
	if entry != nil {
		p.obstacle(entry, free)
		p.line(entry, free)
	} else if g := p.lastHolder(free); g != nil {
		p.granted(g, "", "")
		p.leaves(g, key)
	}
	p.ending(entry, asked, free)
	return true
}

// grantAt returns the grant that a client learned of at a position, or nil.
func (p *plot) grantAt(pos int) *grant {
	if g := p.grantsAt([]int{pos}); len(g) > 0 {
		return g[0]
	}
	return nil
}

// kept tells of a lock that no other client got because its holder kept it: the
// holder was stopped, or its clock was wrong.
func (p *plot) kept(witness []int, all gap) {
	p.climax = all.end
	waits, asked := p.waiters(witness, all)
	s := span{label: "no grant", from: p.d.at(all.begin), to: p.d.at(all.end)}
	p.spans = append(p.spans, s)
	p.title = fmt.Sprintf("%s for %s %s", waits, p.lock(), p.during(s))
	entry, renewals := p.renewedForAnother(all)
	if g := p.lastHolder(all); renewals != nil {
		g = renewals[0].by.grant
		p.title += ", while " + g.client + " renewed " + entry.owner() + " entry"
		p.holder(g)
		p.granted(entry.grant(), "", "")
		p.keeper = g
	} else if g != nil {
		p.title += ", while " + g.client + " kept it"
		p.granted(g, "", "")
		p.keeper = g
	}
	if asked != nil {
		p.wants(asked, key)
	}
	if g := p.grantAt(all.end); g != nil {
		p.granted(g, ": nobody had been in the last "+p.d.units.span(s.to-s.from), "")
		p.keeper = nil
		return
	}
	m := p.nobody(asked, all.end, "had been granted the lock in the last "+p.d.units.span(s.to-s.from), "has been granted the lock")
	since := " since " + p.d.units.at(s.from)
	if g := p.keeper; renewals != nil {
		did, does := p.renewing(entry, renewals, all.begin)
		m.did += ", and " + did
		m.line += "; " + does + since
	} else if n := g.renewed(all.end) - g.renewed(all.begin); n > 0 {
		often, until := times(n), p.d.units.at(g.until(all.end))
		m.did += ", and " + g.client + " had renewed its lease " + often + " in that time, by then until " + until
		m.line += "; " + g.client + " has renewed its lease " + often + since + ", until " + until
	}
	p.add(m)
}

// renewedForAnother returns the entry that was in the way for most of a time, and the
// requests with which another client renewed it in that time, if there were any.
func (p *plot) renewedForAnother(free gap) (*stay, []foreign) {
	s := p.blocker(free)
	if s == nil || s.grant() == nil {
		return nil, nil
	}
	var renewals []foreign
	for _, f := range s.foreign {
		if free.begin <= f.pos && f.pos <= free.end && f.by.grant != nil {
			renewals = append(renewals, f)
		}
	}
	return s, renewals
}

// renewing says how often a client has renewed another client's entry since a position, and
// from when on it did, if that was before.
func (p *plot) renewing(entry *stay, renewals []foreign, since int) (did, does string) {
	by, owner, often := renewals[0].by.client, entry.owner(), times(len(renewals))
	did, does = by+" had renewed "+owner+" entry "+often+" in that time", by+" has renewed "+owner+" entry "+often
	for _, f := range entry.foreign {
		if f.by.client == by && f.pos < since {
			first := p.d.units.at(p.d.at(f.pos))
			return did + ", and before that from " + first + " on",
				by + " has renewed " + owner + " entry since " + first + ", " + often
		}
	}
	return did, does
}

// waiters gives lanes to two of the clients that asked meanwhile, those of the
// witness first. It returns a sentence about those that waited to the end, and the first
// one; asked is the first one's acquire.
func (p *plot) waiters(witness []int, free gap) (said string, asked *op) {
	var names []string
	for _, convicts := range []bool{true, false} {
		for _, o := range p.d.all {
			if !o.asks() || slices.Contains(names, o.client) || o.invoke >= free.end || !before(free.begin, o.over()) {
				continue
			}
			if convicts != (slices.Contains(witness, o.invoke) || slices.Contains(witness, o.done)) {
				continue
			}
			names = append(names, o.client)
			if asked == nil {
				asked = o
			}
		}
	}
	if asked == nil {
		return "somebody waited", nil
	}
	begin := p.d.at(max(free.begin, asked.invoke))
	waits := map[string]span{} // the last wait of each client; asking again does not end it
	for _, o := range p.d.all {
		if !o.asks() || !slices.Contains(names, o.client) {
			continue
		}
		w, begun := waits[o.client]
		asks := max(begin, p.d.at(o.invoke))
		if !begun || asks-w.to > p.d.slack() {
			w = span{from: asks}
		}
		w.to = max(w.to, p.d.at(o.over()))
		waits[o.client] = w
	}
	first := names[0] // the client from whose wait the judge counts: it may have given up
	var patient, later, others []string
	for _, n := range names {
		switch w := waits[n]; {
		case p.d.at(free.end)-w.to > p.d.slack():
			others = append(others, n)
		case p.d.units.at(w.from) != p.d.units.at(begin): // the title gives the first one's time
			later = append(later, n)
		default:
			patient = append(patient, n)
		}
	}
	lanes := slices.Concat([]string{first}, patient, later, others)
	for _, n := range slices.Compact(lanes)[:min(2, len(names))] {
		p.with(n)
	}
	return waited(first, patient, later) + " waited", asked
}

// waited names the clients that waited to the end, some of them from the beginning, and
// the first one, which may have given up.
func waited(first string, patient, later []string) string {
	switch {
	case len(patient)+len(later) == 0:
		return first
	case len(patient) == 0 && slices.Contains(later, first): // it asked again
		return crowd(later)
	case len(patient) == 0:
		return first + ", then " + crowd(later) + ","
	case !slices.Contains(patient, first) && !slices.Contains(later, first):
		patient = append([]string{first}, patient...)
	}
	if len(later) == 0 {
		return crowd(patient)
	}
	return crowd(patient) + ", and later " + crowd(later) + ","
}

// crowd lists clients, up to three of them by name.
func crowd(names []string) string {
	if n := len(names); n > 3 {
		return fmt.Sprintf("%s and %d others", names[0], n-1)
	}
	return list(names)
}

// blocker returns the entry that was in the way for most of the time, or nil.
func (p *plot) blocker(free gap) *stay {
	from, to := p.d.at(free.begin), p.d.at(free.end)
	most := (to - from) / 4
	var best *stay
	for _, s := range p.d.stays {
		if d := min(p.d.at(s.to), to) - max(p.d.at(s.from), from); d > most {
			best, most = s, d
		}
	}
	return best
}

// obstacle tells whose entry was in the way, and why it stayed there.
func (p *plot) obstacle(s *stay, free gap) {
	switch {
	case s.operator: // the fault tells it
		for _, before := range p.d.stays {
			if before.to == s.from {
				p.obstacle(before, free)
			}
		}
	case s.op == nil:
		p.add(happens(s.from, s.home, "made an entry", "makes an entry, whose owner is not known"))
	case s.op.grant != nil && slices.Contains(s.op.grant.inVain(), s):
		p.asks(s.op)
		p.makes("", p.d.alongside(s)...)
	case s.op.grant != nil:
		p.granted(s.op.grant, "", "")
		p.leaves(s.op.grant, key)
		if s.back {
			p.isBack(s)
		}
	case s.back:
		p.asks(s.op)
		p.unanswered(s.op)
		p.isBack(s)
	default:
		p.makes("", p.d.alongside(s)...)
		if before(s.op.done, free.end) {
			p.unanswered(s.op)
		}
	}
}

// line tells of a queue that does not move: the last holder, and the clients behind
// the node that is in the way.
func (p *plot) line(first *stay, free gap) {
	if !p.d.queue {
		return
	}
	if g := p.lastHolder(free); g != nil && g.op != first.op {
		p.granted(g, "", "")
		p.leaves(g, key)
	}
	for _, s := range p.d.stays {
		if s != first && s.grant() == nil && s.from < free.end && before(free.begin, s.to) && slices.Contains(p.clients, s.client()) {
			p.queued(s)
		}
	}
}

// alongside returns s and the entries that the same acquire made on other servers,
// that were there together with s, and that ended as s did.
func (d *digest) alongside(s *stay) (list []*stay) {
	if s.op == nil || d.queue {
		return []*stay{s}
	}
	for _, o := range s.op.stays {
		if o.how == s.how && o.by == s.by && before(o.from, s.to) && before(s.from, o.to) {
			list = append(list, o)
		}
	}
	return list
}

// nobody returns the moment at which a wait without a grant ended: that of the answer
// that a waiter got there, or of a time at which it still waited. did and does say that
// nobody held or was granted the lock.
func (p *plot) nobody(asked *op, pos int, did, does string) moment {
	m := moment{pos: pos, who: "nobody", did: did, line: "still nobody " + does}
	if asked != nil {
		m.lane = asked.client
	}
	o := p.d.ops.at(pos)
	if o == nil || !o.asks() || o.done != pos || o.outcome == history.OK || o.err == history.ErrCrashed {
		return m
	}
	p.with(o.client)
	who, ended, ends := p.ended(o)
	m.lane, m.actor, m.who = o.client, o.client, who
	which, lock := ": nobody ", ""
	if strings.HasSuffix(ended, " the lock") {
		which, lock = ", which nobody ", " the lock"
	}
	m.did = ended + which + strings.Replace(did, lock, "", 1)
	m.line = m.who + " " + ends + which + strings.Replace(does, lock, "", 1)
	return m
}

// deadAhead says which dead clients had a place in the queue before o.
func (p *plot) deadAhead(o *op, free gap) (said, short string) {
	place := p.d.place(o)
	if place == nil {
		return "", ""
	}
	var dead []string
	for _, x := range p.d.all {
		if !x.asks() || x.err != history.ErrCrashed || x.done > free.end {
			continue
		}
		if theirs := p.d.place(x); theirs != nil && theirs.Value.Set && theirs.Value.V < place.Value.V {
			dead = append(dead, x.client)
			p.with(x.client)
		}
	}
	switch {
	case dead == nil:
		return "", ""
	case len(dead) == 1:
		return ", and " + dead[0] + ", which was before it in the queue, was dead", "; " + dead[0] + " before it is dead"
	}
	return ", and " + crowd(dead) + ", which were before it in the queue, were dead", "; " + crowd(dead) + " before it are dead"
}

// ending tells how the time without a holder ended, if it did.
func (p *plot) ending(s *stay, asked *op, free gap) {
	earlier, long, after := "before", "yet", "the first"
	if g := p.lastHolder(free); g != nil {
		length := p.d.units.span(p.d.at(free.end) - p.d.at(max(g.got, g.end)))
		earlier, long, after = "for "+length, "for "+length, "after "+length+" without a holder"
	}
	if s != nil && s.to != none && s.to <= free.end {
		p.entriesEnd(p.d.alongside(s))
	}
	if g := p.grantAt(free.end); g != nil {
		late, short := p.deadAhead(g.op, free)
		if g.op != asked && p.d.at(g.got)-p.d.at(g.op.invoke) > p.d.slack() {
			p.wants(g.op, key) // another one has given up
		}
		p.granted(g, ": nobody had held it "+earlier+late, ", "+after+short)
		return
	}
	m := p.nobody(asked, free.end, "had held the lock "+long, "holds the lock")
	// If the record of the servers has gaps, the entry may have gone since.
	seen := slices.Contains(p.d.h.Header.Observes, string(checker.Answers))
	if s != nil && (s.to == none || s.to > free.end) && seen {
		m.lane = s.server
		entry := s.owner() + " entry"
		had, has := entry, entry
		if g := s.grant(); g != nil && g.until(g.got) == 0 && !p.d.queue && p.d.h.Header.LeaseMS > 0 && p.d.h.Header.Version != "" {
			had, has = entry+", which had no lease", entry+", which has no lease"
		} else if age := p.d.at(free.end) - p.d.at(s.from); g == nil && !p.d.queue && age > p.d.slack() {
			old := p.d.units.span(age) + " old"
			had, has = entry+", which was "+old, entry+", "+old
		}
		m.did += ", and " + s.server + " still kept " + had
		m.line += "; " + s.server + " still keeps " + has
	}
	p.add(m)
}
