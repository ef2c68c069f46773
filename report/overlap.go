package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// overlap tells of two clients that held at the same time; with leases, by their leases.
func (p *plot) overlap(witness []int, leases bool) bool {
	g := p.grantsAt(witness)
	if len(g) < 2 {
		return false
	}
	x, y := g[0], g[1]
	s := both(p.d, x, y)
	if p.leases = leases; leases {
		p.extended = p.d.extends(x, y)
	}
	if p.extended != none {
		s = p.span(x, y)
	}
	p.title = fmt.Sprintf("%s and %s both held %s %s", x.client, y.client, p.lock(), p.during(s))
	if x.client == y.client {
		p.title = fmt.Sprintf("%s held %s twice %s", x.client, p.lock(), p.during(s))
	}
	p.together(x, y)
	return true
}

// leased reports whether x and y both hold at a position, by their leases.
func (d *digest) leased(x, y *grant, pos int) bool {
	for _, g := range []*grant{x, y} {
		if until := g.until(pos); !g.holds(pos) || until != 0 && until <= d.at(pos) {
			return false
		}
	}
	return true
}

// extends returns the position at which x or y extended its lease, if only from then on
// both had one; else none.
func (d *digest) extends(x, y *grant) int {
	first := none
	if d.leased(x, y, y.got) {
		return none
	}
	for _, l := range slices.Concat(x.deadlines, y.deadlines) {
		if l.pos > y.got && d.leased(x, y, l.pos) && before(l.pos, first) {
			first = l.pos
		}
	}
	return first
}

// span returns the time in which x and y both held, in a story about leases: in which
// both had a lease.
func (p *plot) span(x, y *grant) span {
	s := both(p.d, x, y)
	if p.extended == none {
		return s
	}
	s.from = p.d.at(p.extended)
	for _, g := range []*grant{x, y} {
		if until := g.until(p.extended); until != 0 {
			s.to = min(s.to, until)
		}
	}
	return s
}

// extending tells that a lease was extended, so that x and y both had one.
func (p *plot) extending(x, y *grant) {
	g := x
	if slices.ContainsFunc(y.deadlines, func(l deadline) bool { return l.pos == p.extended }) {
		g = y
	}
	until := ""
	if t := g.until(p.extended); t != 0 {
		until = ", until " + p.d.units.at(t)
	}
	o := p.d.ops.at(p.extended)
	p.prolongsAnother(o)
	m := acts(p.extended, g.client, "renewed its lease"+until, "renews its lease"+until)
	if o != nil {
		m = acts(p.extended, g.client, "was told that its lease was extended"+until, "is told that its lease is extended"+until)
	}
	m.did += ": from then on both had a lease"
	m.line += ": both have a lease"
	p.add(m)
}

// together tells how the first of two holders lost its entry, how the second was
// granted the lock, and how they used the resource.
func (p *plot) together(x, y *grant) {
	p.climax = max(y.got, p.extended)
	p.precedent(x, y)
	p.sameNumber(x, y)
	p.comesIn(y, x)
	if p.extended != none {
		p.extending(x, y)
	}
	p.aftermath(x, y)
}

// comesIn tells how x lost its entry, and how y was granted the lock while x held it.
func (p *plot) comesIn(y, x *grant) {
	lost := p.holder(x)
	if entries := y.restsOn(); !lost && len(entries) > 0 && before(entries[len(entries)-1].to, y.got) {
		p.loss(y, 1) // the entry went before its client had heard of it
	}
	if s, f := p.d.borrows(y); s != nil {
		p.prolongs(s, f)
	}
	p.passed(y)
	p.joined(x, y)
	p.placed(y)
	p.enters(y, x)
}

// precedent tells how x's acquire treated the entry before its own, if y's acquire
// treated x's entry in the same way.
func (p *plot) precedent(x, y *grant) {
	if !slices.ContainsFunc(x.op.stays, func(s *stay) bool { return s.by == y.op }) {
		return
	}
	for _, s := range p.d.stays {
		if s.by != x.op || s.op == nil || s.op == x.op || s.to > x.got {
			continue
		}
		if g := s.grant(); g != nil {
			p.granted(g, "", "")
		} else {
			p.makes("", s)
		}
		p.trespass(s)
	}
}

// passed tells which waiters ahead of g left the queue without being granted the
// lock: a watch does not distinguish that from a release.
func (p *plot) passed(g *grant) {
	entries := g.restsOn()
	if !p.d.queue || len(entries) == 0 {
		return
	}
	gone := slices.DeleteFunc(p.d.ahead(entries[0]), func(s *stay) bool {
		return !before(s.to, g.got) || s.op == nil || s.op.grant != nil || s.client() == g.client
	})
	const most = 2
	for _, s := range gone[max(0, len(gone)-most):] {
		p.queued(s)
		p.entryEnds(s)
	}
}

// enters tells that y was granted the lock while x held it.
func (p *plot) enters(y, x *grant) {
	note, hold := ": from then on both held it", ": both hold it"
	switch {
	case x.client == y.client:
		note, hold = ": from then on it held it twice", ": it holds it twice"
		if p.d.opAt(p.d.h.Entries[y.got].Op) == x.op {
			note, hold = ", by the entry that it had already"+note, ", by the entry that it has already"+hold
		}
	case len(p.spans) > 0:
		note = fmt.Sprintf(": from then on %s and %s both held it", x.client, y.client)
	}
	if mine := y.restsOn(); p.d.queue && len(mine) > 0 && slices.ContainsFunc(p.d.ahead(mine[0]), func(s *stay) bool {
		return s.op == x.op && before(y.got, s.to)
	}) {
		note = ", although " + possessive(x.client) + " entry was still in the queue" + note
	}
	now, until := p.d.at(y.got), x.until(y.got)
	if mine := y.until(y.got); until > now && (mine == 0 || mine > now) && !p.d.unserved(y) {
		ran := possessive(x.client) + " lease ran"
		if p.d.outlives(x, y.got) {
			ran = x.client + " thought that its lease ran"
		}
		note = ", although " + ran + " until " + p.d.units.at(until) + note
	}
	if p.extended != none {
		note, hold = "", ""
	}
	p.granted(y, note, hold)
	p.spans = append(p.spans, p.span(x, y))
}

// outlives reports whether the lease that g's client knew of was not that of its entries:
// they were there for a whole lease, and by pos those that are left are no majority; or
// a fault had changed its client's clock.
func (d *digest) outlives(g *grant, pos int) bool {
	if slices.ContainsFunc(d.faults, func(f *fault) bool {
		return (f.Clock || f.Rate) && f.strikes(g.client) && f.start < pos && !before(f.end, g.op.invoke)
	}) {
		return true
	}
	last := map[string]*stay{} // by server
	for _, s := range g.op.stays {
		if !s.back {
			last[s.home] = s
		}
	}
	left := len(last)
	for _, s := range last {
		if s.how == history.Expire && s.to < pos && d.lasted(s) {
			left--
		}
	}
	return (left < len(last) || len(last) == 0) && left <= d.h.Header.Nodes/2
}

// aftermath tells the consequences of holding together: lost updates, refused
// accesses, removed entries.
func (p *plot) aftermath(x, y *grant) {
	harmed := false
	for _, s := range p.d.stays {
		if victim := s.grant(); victim != x && victim != y || s.to < p.climax || s.by == nil || s.by.grant == victim {
			continue
		}
		switch {
		case s.by.grant == x || s.by.grant == y:
			p.weigh(side, func() { p.trespass(s); p.intruder(s) })
			harmed = true
		case s.grant().holds(s.to): // so another client may hold, too
			p.weigh(side, func() { p.trespass(s) })
		}
	}
	for _, v := range p.d.visits {
		if v.pos < p.climax || v.grant != x && v.grant != y {
			continue
		}
		switch {
		case v.f == history.Refuse:
			p.refusal(v)
			harmed = true
		case v.f != history.Write:
		case p.overwrites(v):
			p.overwriting(v)
			harmed = true
		case v.grant == x:
			p.writing(v)
			p.say(v.pos, x.client, p.tense("wrote", "had written")+" "+value(v.value))
		default:
			p.writing(v)
		}
	}
	w := detail
	if o := x.release; o != nil && (o.err == history.ErrLost && !x.lost || o.err == history.ErrNotHeld && x.freed()) {
		w = side // so it hears of its loss, or frees the lock without knowing it
	}
	if o := x.release; o != nil && x.client == y.client && x.freed() && before(o.effect, y.end) {
		w = side // so it frees the lock that it holds once more
	}
	p.leaves(x, w)
	if w == side && x.freed() {
		for _, s := range x.op.stays {
			if s.by == x.release {
				p.entryEnds(s)
			}
		}
	}
	if told := y.release; told != nil && (told.outcome == history.OK || x.client == y.client) {
		if answer, _, _ := p.answer(y); answer != "" {
			p.leaves(y, side)
		}
	}
	if !harmed && p.intact && len(p.d.visits) > 0 {
		p.coda = "No update was lost this time."
	}
}

// intruder tells which client was granted the lock because an entry had been removed.
func (p *plot) intruder(s *stay) {
	victim := s.grant()
	for _, g := range p.d.grants {
		if g.got > s.to {
			if g != victim && victim.holds(g.got) {
				p.enters(g, victim)
			}
			return
		}
	}
}

// besides adds to the grants of a story of holds that overlap which clients of the story
// still had a lease, or a lock without one, if nothing is said of it yet.
func (p *plot) besides() {
	for i := range p.moments {
		m := &p.moments[i]
		if m.grant == nil {
			continue
		}
		var names []string
		for _, o := range p.d.grants {
			if o.got < m.pos && p.said[o.got] && o.client != m.grant.client && p.d.leased(o, m.grant, m.pos) && !(p.d.shared(o) && p.d.shared(m.grant)) && !slices.Contains(names, o.client) {
				names = append(names, o.client)
			}
		}
		if len(names) > 0 {
			m.did += ", although " + crowd(names) + " still held it"
			m.line += "; not yet released by " + crowd(names)
		}
	}
}

// manyOverlaps is the largest number of overlaps that a story counts.
const manyOverlaps = 1000

// overlaps returns the times in which two clients held, or one client twice, in the
// order in which they begin: up to manyOverlaps.
func (d *digest) overlaps() (list []span) {
	var open []*grant
	for _, g := range d.grants {
		if before(g.end, g.got) {
			continue
		}
		open = slices.DeleteFunc(open, func(o *grant) bool { return !o.holds(g.got) })
		for _, o := range open {
			if o.nest == g.nest || d.shared(o) && d.shared(g) {
				continue
			}
			if list = append(list, both(d, o, g)); len(list) == manyOverlaps {
				return list
			}
		}
		open = append(open, g)
	}
	return list
}

// shared reports whether g is a reader's grant.
func (d *digest) shared(g *grant) bool { return d.h.Entries[g.op.invoke].Shared }

// further tells of overlaps beside those of a story about overlapping holds.
func (p *plot) further() {
	if !slices.ContainsFunc(p.spans, func(s span) bool { return s.x != nil }) {
		return
	}
	p.more = slices.DeleteFunc(p.d.overlaps(), func(s span) bool {
		return slices.ContainsFunc(p.spans, func(o span) bool { return o.x == s.x && o.y == s.y }) || p.leases && !p.d.leased(s.x, s.y, s.y.got)
	})
	if len(p.more) == 0 {
		return
	}
	first := p.more[0]
	said := fmt.Sprintf("%s and %s also both held it", first.x.client, first.y.client)
	if first.x.client == first.y.client {
		said = first.x.client + " also held it twice"
	}
	said += " " + p.during(first)
	switch n := len(p.more); {
	case n == 2:
		said += ", and there was 1 more overlap"
	case n > 2:
		said += fmt.Sprintf(", and there were %s more overlaps", thousands(n-1))
	}
	p.coda = strings.TrimSpace(p.coda + " " + said + ".")
}

// losses says how many updates were lost beside those of the moments, in a story about
// clients that held at the same time.
func (p *plot) losses() {
	if !slices.ContainsFunc(p.spans, func(s span) bool { return s.x != nil }) {
		return
	}
	another, further := "An update was", "updates were"
	n, at := 0, ""
	for _, v := range p.d.visits {
		told := slices.ContainsFunc(p.moments, func(m moment) bool { return m.pos == v.pos })
		switch over, lost := p.d.overwritten(v); {
		case !over || lost == nil:
		case told:
			another, further = "Another update was", "more updates were"
		case n < manyOverlaps:
			if n == 0 {
				at = " at " + p.d.units.at(p.d.at(v.pos))
			}
			n += len(p.d.destroys(v))
		}
	}
	if n == 0 {
		return
	}
	said := another + " lost" + at
	if n > 1 {
		said = thousands(n) + " " + further + " lost, the first" + at
	}
	p.coda = strings.TrimSpace(p.coda + " " + said + ".")
}
