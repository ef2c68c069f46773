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

// waiting tells of a lock that was not granted to any client: the waiters, the entry
// that was in the way, why it stayed, and how the wait ended. kept allows the
// explanation that a client kept the lock.
func (p *plot) waiting(witness []int, kept bool) bool {
	if len(witness) == 0 {
		return false
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
	s := span{label: "nobody holds", from: p.d.at(free.begin), to: p.d.at(free.end)}
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
	p.absent(p.grantedAt(free.end, asked), free)
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

// grantedAt returns the acquire that was granted the lock at a position, or else other.
func (p *plot) grantedAt(pos int, other *op) *op {
	for _, g := range p.d.grants {
		if g.got == pos {
			return g.op
		}
	}
	return other
}

// vain tells of the entries that an acquire made on a minority of servers and removed
// again.
func (p *plot) vain(o *op) {
	nodes := p.d.h.Header.Nodes
	if nodes < 2 {
		return
	}
	var gone []*stay
	count := map[string]int{}
	for _, s := range o.stays {
		if s.own() && s.by == o && s.to != none {
			gone = append(gone, s)
			count[s.home]++
		}
	}
	if len(gone) == 0 {
		return
	}
	first := gone[:1]
	for len(first) < len(gone) && gone[len(first)].from < gone[0].to {
		first = gone[:len(first)+1]
	}
	if len(first) > nodes/2 {
		return
	}
	made, makes, them := "made an entry", "makes an entry", "which is no majority, and "+o.client+" removed it again"
	if len(homes(gone)) > 1 {
		made, makes, them = "made entries", "make entries", "which were never a majority, and "+o.client+" removed them again"
	}
	short := ": no majority"
	if slices.ContainsFunc(gone, func(s *stay) bool { return p.d.granting(o, s.to) > nodes/2 }) { // the client did not learn of all of them
		them, short = "which "+o.client+" removed again", ", which removes what it knows of"
	}
	often := p.often(count, homes(gone))
	oftener := strings.Replace(often, "; that happened", ",", 1)
	p.wants(o, detail) // the entries show it
	who := list(homes(gone))
	p.add(p.d.spread(gone, func(s *stay) int { return s.from }, moment{
		pos: gone[0].from, lane: gone[0].home, who: who, weight: side,
		did:  made + " for " + o.client + ", " + them + often,
		line: who + " " + makes + " for " + o.client + short + oftener,
	}))
}

// often returns how often something happened on servers, by a count for each: ";
// that happened twice", "; that happened twice on redis-1 and 3 times on redis-2". It
// returns "" if it happened once on each.
func (p *plot) often(count map[string]int, all []string) string {
	var each []string
	same := true
	for _, server := range all {
		same = same && count[server] == count[all[0]]
		each = append(each, times(count[server])+" on "+server)
	}
	switch {
	case !same:
		return "; that happened " + list(each)
	case count[all[0]] > 1:
		return "; that happened " + times(count[all[0]])
	}
	return ""
}

// split tells that clients split the servers among them so that no client could get a
// majority, as package checker defines it. It returns false if they did so fewer
// times than least.
func (p *plot) split(free gap, least int) bool {
	nodes := p.d.h.Header.Nodes
	if nodes < 2 {
		return false
	}
	type change struct {
		pos int
		s   *stay
	}
	var changes []change
	for _, s := range p.d.stays {
		if s.op == nil {
			continue
		}
		changes = append(changes, change{s.from, s})
		if s.to != none {
			changes = append(changes, change{s.to, s})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.pos, b.pos) })
	there := map[string]*stay{} // by server
	var first []string
	at, often, was := none, 0, false
	for _, c := range changes {
		if c.pos > free.end {
			break
		}
		if c.pos == c.s.from {
			there[c.s.home] = c.s
		} else if there[c.s.home] == c.s {
			delete(there, c.s.home)
		}
		most, votes := 0, map[*op]int{}
		for _, s := range there {
			votes[s.op]++
			most = max(most, votes[s.op])
		}
		is := len(votes) > 1 && most+nodes-len(there) <= nodes/2
		if is && !was && c.pos >= free.begin {
			if often++; often == 1 {
				at = c.pos
				for server, s := range there {
					first = append(first, server+" one for "+s.client())
				}
			}
		}
		was = is
	}
	if often < least {
		return false
	}
	slices.Sort(first)
	who, its, _ := strings.Cut(first[0], " one for ")
	first[0] = "had an entry for " + its
	again, short := "", ""
	if often > 1 {
		again, short = "; that happened "+times(often), ", "+times(often)
	}
	p.add(moment{
		pos: at, lane: p.d.h.Entries[at].Process.Name, who: who,
		did:  list(first) + ", and nobody could get a majority" + again,
		line: "the servers are split among the clients: nobody can get a majority" + short,
	})
	return true
}

// granting returns how many servers had an entry of an acquire just before a
// position.
func (d *digest) granting(o *op, pos int) int {
	var there []*stay
	for _, s := range o.stays {
		if s.from < pos && !before(s.to, pos) {
			there = append(there, s)
		}
	}
	return len(homes(there))
}

// gap is a stretch of the history, by its first and last position.
type gap struct{ begin, end int }

// kept tells of a lock that no other client got because its holder kept it: the
// holder was stopped, or its clock was wrong.
func (p *plot) kept(witness []int, all gap) {
	p.climax = all.end
	waits, asked := p.waiters(witness, all)
	s := span{label: "no grant", from: p.d.at(all.begin), to: p.d.at(all.end)}
	p.spans = append(p.spans, s)
	p.title = fmt.Sprintf("%s for %s %s", waits, p.lock(), p.during(s))
	other := p.renewedForAnother(all)
	if g := p.lastHolder(all); other != nil {
		g = other.by
		p.title += ", while " + g.client + " renewed " + other.entry.owner() + " entry"
		p.holder(g)
		p.granted(other.entry.grant(), "", "")
		p.keeper = g
	} else if g != nil {
		p.title += ", while " + g.client + " kept it"
		p.granted(g, "", "")
		p.keeper = g
	}
	if asked != nil {
		p.wants(asked, key)
	}
	for _, g := range p.d.grants {
		if g.got == all.end {
			p.granted(g, ": nobody had been in the last "+p.d.units.span(s.to-s.from), "")
			p.keeper = nil
			return
		}
	}
	m := p.nobody(asked, all.end, "had been granted the lock in the last "+p.d.units.span(s.to-s.from), "has been granted the lock")
	since := " since " + p.d.units.at(s.from)
	if g := p.keeper; other != nil {
		m.did += ", and " + g.client + " had renewed " + other.entry.owner() + " entry " + times(other.times) + " in that time"
		m.line += "; " + g.client + " has renewed " + other.entry.owner() + " entry " + times(other.times) + since
	} else if n := g.renewed(all.end) - g.renewed(all.begin); n > 0 {
		often, until := times(n), p.d.units.at(g.until(all.end))
		m.did += ", and " + g.client + " had renewed its lease " + often + " in that time, by then until " + until
		m.line += "; " + g.client + " has renewed its lease " + often + since + ", until " + until
	}
	p.add(m)
}

// foreign is an entry that a client renews without having made it.
type foreign struct {
	entry *stay
	by    *grant
	times int // renewals in a gap
}

// renewedForAnother returns the entry that was in the way for most of a time, if
// another client's renewals kept it there, or nil.
func (p *plot) renewedForAnother(free gap) *foreign {
	s := p.blocker(free)
	if s == nil || s.grant() == nil {
		return nil
	}
	var f *foreign
	for pos := max(s.from, free.begin); pos <= free.end; pos++ {
		e := &p.d.h.Entries[pos]
		if by := p.d.opAt(e.By); e.F == history.Prolong && p.d.opAt(e.Op) == s.op && by != nil && by.client != s.client() && by.grant != nil {
			if f == nil {
				f = &foreign{entry: s, by: by.grant}
			}
			f.times++
		}
	}
	return f
}

// longestFree returns the longest time between two positions in which no client held.
// If a client held throughout, found is false and the result is the whole time.
func (p *plot) longestFree(from, to int) (longest gap, found bool) {
	most := time.Duration(-1)
	for _, g := range p.free(from, to) {
		if d := p.d.at(g.end) - p.d.at(g.begin); d > most {
			longest, most, found = g, d, true
		}
	}
	if !found {
		return gap{from, to}, false
	}
	return longest, true
}

// free returns the times between two positions in which no client held.
func (p *plot) free(from, to int) (list []gap) {
	begin := from
	add := func(end int) {
		if begin < end {
			list = append(list, gap{begin, end})
		}
	}
	for _, g := range p.d.grants {
		if g.got > to || begin > to {
			break
		}
		add(g.got)
		if g.end == none {
			begin = to + 1
		} else {
			begin = max(begin, g.end)
		}
	}
	add(to)
	return list
}

// waiters gives lanes to two of the clients that asked meanwhile, those of the
// witness first. It returns a sentence about those that waited all the time; asked is
// the first one's acquire.
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
	waited := map[string]time.Duration{} // end of the wait; asking again does not end it
	for _, o := range p.d.all {
		until := max(waited[o.client], p.d.at(max(free.begin, asked.invoke)))
		if o.asks() && p.d.at(o.invoke)-until <= p.d.slack() {
			waited[o.client] = max(until, p.d.at(o.over()))
		}
	}
	var patient, others []string
	for _, n := range names {
		if p.d.at(free.end)-waited[n] <= p.d.slack() {
			patient = append(patient, n)
		} else {
			others = append(others, n)
		}
	}
	first := names[0] // the client from whose wait the judge counts: it may have given up
	lanes := slices.Concat([]string{first}, patient, others)
	for _, n := range slices.Compact(lanes)[:min(2, len(names))] {
		p.with(n)
	}
	until := list(patient)
	if n := len(patient); n > 3 {
		until = fmt.Sprintf("%s and %d others", patient[0], n-1)
	}
	switch {
	case slices.Contains(patient, first):
		return until + " waited", asked
	case until == "":
		return first + " waited", asked
	}
	return first + " waited, then " + until, asked
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
	case s.op == nil:
		p.add(moment{
			pos: s.from, lane: s.home, who: s.home, did: "made an entry",
			line: s.home + " makes an entry, whose owner is not known",
		})
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
		p.makes("", s)
		if before(s.op.done, free.end) {
			p.unanswered(s.op)
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

// lastHolder returns the last grant before the gap, or nil.
func (p *plot) lastHolder(free gap) *grant {
	var last *grant
	for _, g := range p.d.grants {
		if g.got < free.end && (last == nil || before(last.end, g.end)) {
			last = g
		}
	}
	return last
}

// nobody returns the moment at which a wait without a grant ended: that of the answer
// that a waiter got there, or of a time at which it still waited. did and does say that
// nobody held or was granted the lock.
func (p *plot) nobody(asked *op, pos int, did, does string) moment {
	m := moment{pos: pos, who: "nobody", did: did, line: "still nobody " + does}
	if asked != nil {
		m.lane = asked.client
	}
	o := p.d.ops[pos]
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

// ending tells how the time without a holder ended, if it did.
func (p *plot) ending(s *stay, asked *op, free gap) {
	since := 0 // start of the time without a holder; the witness begins with an invoke
	if g := p.lastHolder(free); g != nil {
		since = max(g.got, g.end)
	}
	length := p.d.units.span(p.d.at(free.end) - p.d.at(since))
	if s != nil && s.to != none && s.to <= free.end {
		p.entriesEnd(p.d.alongside(s))
	}
	for _, g := range p.d.grants {
		if g.got == free.end {
			p.granted(g, ": nobody had held it for "+length, ", after "+length+" without a holder")
			return
		}
	}
	m := p.nobody(asked, free.end, "had held the lock for "+length, "holds the lock")
	// If the record of the servers has gaps, the entry may have gone since.
	seen := slices.Contains(p.d.h.Header.Observes, string(checker.Answers))
	if s != nil && (s.to == none || s.to > free.end) && seen {
		m.lane = s.server
		m.did += ", and " + s.server + " still kept " + s.owner() + " entry"
		m.line += "; " + s.server + " still keeps " + s.owner() + " entry"
	}
	p.add(m)
}
