package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// together groups entries that are gone, in the order in which they ended. Those of one
// group expired, all too early or none, or were lost in one way, or were removed by their
// owner, as one: on several servers, at about the same time.
func (d *digest) together(gone []*stay) (groups [][]*stay) {
	slices.SortStableFunc(gone, func(a, b *stay) int { return cmp.Compare(a.to, b.to) })
	for len(gone) > 0 {
		n, s := 1, gone[0]
		for (s.how == history.Expire || s.how == history.Lose && !s.missing || s.own()) && n < len(gone) && gone[n].how == s.how && gone[n].by == s.by && d.early(gone[n]) == d.early(s) &&
			(s.how != history.Lose || !gone[n].missing && d.losing(gone[n]) == d.losing(s)) && d.at(gone[n].to)-d.at(s.to) <= d.slack() {
			n++
		}
		groups, gone = append(groups, gone[:n]), gone[n:]
	}
	return groups
}

// early reports whether an entry went before the lease ended that its client was given.
func (d *digest) early(s *stay) bool {
	g := s.grant()
	return g != nil && d.at(s.to) < g.until(s.to)-d.noise()
}

// still returns a clause about what a holder did not know. It believes that it holds up
// to the end of its lease only.
func (p *plot) still(g *grant, pos int) string {
	switch {
	case g == nil:
		return ""
	case g.holds(pos):
		if until := g.until(pos); until != 0 && until <= p.d.at(pos)+p.d.noise() {
			return ", before " + g.client + " had released the lock"
		}
		return ", while " + g.client + " still believed that it held the lock"
	case g.release != nil && g.release.invoke <= pos && g.release.travels(pos):
		return ", before " + p.d.unsent(g.release, pos) + g.client + "'s release got there"
	}
	return ""
}

// unsent returns which part of a release had certainly not left by a position, in words
// such as "the DEL of ", or "" for all of it.
func (d *digest) unsent(o *op, pos int) string {
	for _, f := range d.faults {
		if o.invoke < f.start && f.start < pos {
			if part := f.next(o.client + " " + o.f); part != "" {
				return part + " of "
			}
		}
	}
	return ""
}

// expired tells that servers dropped entries of one grant that had expired by their
// own clocks.
func (p *plot) expired(all ...*stay) {
	s := all[0]
	owner, entry, who, drops := s.owner(), "entry", s.server, "drops"
	if n := len(all); n > 1 {
		entry, who, drops = "entries", some(all), "drop"
	}
	expires := owner + " entry expires"
	if len(all) > 1 {
		expires = owner + " entries expire"
	}
	if s.op != nil && len(serving(all)) < len(homes(s.op.stays)) {
		expires += " on " + who
	}
	m := moment{pos: s.to, lane: s.server, who: who}
	at, last, noise := p.d.at(s.to), p.d.at(all[len(all)-1].to), p.d.noise()
	var until time.Duration
	g := s.grant()
	if g != nil && !slices.Contains(g.inVain(), s) {
		until = g.until(s.to)
	}
	switch {
	case s.missing && at < until-noise && !p.d.lasted(s):
		clock, early := "by "+possessive(s.server)+" clock its time was over", p.d.units.span(until-at)
		m.who, m.did = owner+" "+entry, "was gone: "+clock+", "+early+" before the lease ended"
		m.line = owner + " " + entry + " is gone: " + clock + ", " + early + " too early"
	case s.missing:
		m.who, m.did = owner+" "+entry, "was gone, as its time was over"
		m.line = owner + " " + entry + " is gone: its time was over"
	case until == 0 && p.d.queue:
		m.did = "dropped " + owner + " node: its session was over"
		m.line = owner + " session ends: " + who + " drops its node"
	case until == 0:
		m.did = "dropped " + owner + " " + entry + ": its time was over"
		m.line = expires
		if len(all) > 1 {
			m.did = "dropped " + owner + " entries: their time was over"
		}
	case last < until-noise:
		early := p.d.units.spans(until-at, until-last)
		ended, ends := " before the lease ended", " too early"
		if p.d.lasted(s) {
			ended, ends = " before "+g.client+" thought that its lease would end", " before "+g.client+" thinks that its lease ends"
		}
		m.did = "dropped " + owner + " " + entry + " as expired, " + early + ended
		m.line = who + " " + drops + " " + owner + " " + entry + " as expired, " + early + ends
	case at > until+noise:
		late := p.d.units.spans(at-until, last-until)
		m.did = "dropped " + owner + " " + entry + ", " + late + " after the lease had ended"
		m.line = expires + ", " + late + " after the lease has ended"
	case g != nil && g.lost && before(g.end, s.to): // its client had given it up
		m.did = "dropped " + owner + " " + entry + ": its lease was over"
		m.line = expires
	default:
		m.who, m.did = owner+" lease", "ended and "+who+" dropped the "+entry
		m.line = owner + " lease ends: " + who + " " + drops + " the " + entry
	}
	m.did += p.still(g, s.to)
	p.add(p.d.spread(all, func(s *stay) int { return s.to }, m))
}

// lasted reports whether an entry that ended was there for a whole lease.
func (d *digest) lasted(s *stay) bool {
	return d.at(s.to)-d.at(s.since) >= d.h.Header.Lease()-d.noise()
}

// spread returns the moment m of entries on several servers. If the times of their
// positions differ, the moment gives the first and the last one.
func (d *digest) spread(all []*stay, pos func(*stay) int, m moment) moment {
	from, to := d.at(pos(all[0])), d.at(pos(all[0]))
	for _, s := range all {
		from, to = min(from, d.at(pos(s))), max(to, d.at(pos(s)))
	}
	if d.units.at(from) != d.units.at(to) {
		m.between = d.units.at(from) + " and " + d.units.at(to)
		m.line += " (between " + m.between + ")"
	}
	return m
}

// lost tells that a server lost an entry, or several servers the entries of one grant, and
// the reason if it is visible.
func (p *plot) lost(all ...*stay) {
	s := all[0]
	if p.d.diesWithSession(s) {
		what := s.owner() + " entry"
		p.add(happens(s.to, what, "was gone with its session"+p.still(s.grant(), s.to), "is gone with its session").in(s.server))
		return
	}
	if s.missing { // a new master never had it, and another server may still have it
		entry := s.owner() + " entry"
		if p.d.h.Header.Nodes > 1 {
			entry += " on " + s.home
		}
		p.add(happens(s.to, s.server, "did not have "+entry+", which had not reached it"+p.still(s.grant(), s.to), "does not have "+entry+": it had not reached it"))
		return
	}
	w := p.d.losing(s)
	who, did, does, what := s.server, w.did, w.does, " "+s.owner()+" entry"
	if len(all) > 1 {
		who, did, does, what = some(all), w.didAll, w.doAll, " "+s.owner()+" entries"
	}
	m := happens(s.to, who, did+what+w.why+p.still(s.grant(), s.to), does+what+w.why).in(s.server)
	p.add(p.d.spread(all, func(s *stay) int { return s.to }, m))
}

// diesWithSession reports whether an entry ended with its session because its server was
// down, or has been replaced by one that never had it.
func (d *digest) diesWithSession(s *stay) bool {
	return d.h.Entries[s.to].Text == history.SessionOver && (s.missing || slices.ContainsFunc(d.downs[s.server], func(f *fault) bool {
		return f.begins < s.to && (f.end == none || s.to < f.lines.End)
	}))
}

// losing is how a server lost an entry, in the past tense and in the present tense, also
// of several servers.
type losing struct{ did, didAll, does, doAll, why string }

func (d *digest) losing(s *stay) losing {
	if d.h.Entries[s.to].Text == history.SessionOver {
		return losing{"dropped", "dropped", "drops", "drop", " with its session"}
	} else if master, yes := d.resigned(s); yes {
		return losing{"dropped", "dropped", "drops", "drop", ", to become a replica of " + master}
	} else if d.evicts(s.server, s.to) {
		return losing{"evicted", "evicted", "evicts", "evict", ""}
	} else if d.comesBack(s) {
		return losing{"was back without", "were back without", "has lost", "have lost", ""}
	}
	return losing{"lost", "lost", "loses", "lose", ""}
}

// isBack tells that an entry is there again because a server lost its removal.
func (p *plot) isBack(s *stay) {
	did, does := s.home+" had lost its removal", s.home+" has lost its removal"
	for _, x := range p.d.promotions {
		if x.server == s.home && p.d.inherits(x.pos, s.from) {
			did = "its removal had not reached " + s.home
			does = did
		}
	}
	p.add(happens(s.from, s.owner()+" entry", "was there again: "+did, "is there again: "+does).in(s.home))
}

// serving returns the servers that have entries, each once, sorted by name.
func serving(stays []*stay) []string {
	return names(stays, func(s *stay) string { return s.server })
}

// some lists the servers that have entries of one acquire, or gives their number; if it
// made entries on others, too, the number says so: "4 of 5 servers".
func some(stays []*stay) string {
	servers, of := serving(stays), 0
	if o := stays[0].op; o != nil {
		of = len(homes(o.stays))
	}
	if n := len(servers); n > 3 && n < of {
		return fmt.Sprintf("%d of %d servers", n, of)
	}
	return several(servers)
}

// entries returns " entry", or " entries" with their servers if there are several.
func entries(all []*stay) string {
	if servers := serving(all); len(servers) > 1 {
		return " entries on " + some(all)
	} else if o := all[0].op; o != nil && len(homes(o.stays)) > 1 {
		return " entry on " + servers[0]
	}
	return " entry"
}

// trespass tells that a command removed or took over an entry of another grant, and those of
// the same grant on other servers.
func (p *plot) trespass(s *stay) {
	by := s.by
	if by == nil {
		return
	}
	p.with(by.client)
	all := slices.DeleteFunc(p.d.alongside(s), func(o *stay) bool { return s.to <= p.climax && o.to > p.climax })
	own := by.releases(s)
	if own != nil {
		p.entryEnds(own)
	}
	whose, which := s.owner(), ""
	if s.client() == by.client {
		whose, which = "its newer", "earlier "
	}
	did, does, released := "removed", "removes", ""
	if g := s.grant(); g != nil && g.release != nil && g.release.outcome == history.OK && g.release.done < s.to {
		released = ", which it had released"
		if by.client != g.client {
			released = ", which " + g.client + " had released"
		}
	}
	if s.how == history.Takeover {
		did, does = "took over", "takes over"
	}
	if own != nil {
		did, does = "also "+did, "also "+does
	}
	if by.f == history.Release && by.grant == nil { // it was granted nothing
		did, does := "released the lock, which it did not hold", "releases the lock, which it does not hold"
		if p.d.refused(by) {
			did, does = "had been refused the lock, and released it all the same", "has been refused, and releases all the same"
		}
		p.add(acts(by.invoke, by.client, did, does))
	}
	if by.outcome == history.Info && by.err != history.ErrCrashed && by.done < s.to {
		m := acts(by.done, by.client, "stopped waiting for an answer to its "+by.f, "stops waiting for an answer to its "+by.f)
		if by.err != history.ErrTimeout {
			m = works(by.done, by.client, by.client, by.f, "ended, its outcome unknown", "ends, its outcome unknown")
		}
		p.add(m.weighing(side))
	}
	what := " " + whose + entries(all) + released
	p.add(p.d.spread(all, func(s *stay) int { return s.to }, works(all[0].to, all[0].server, by.client, which+by.f, did+what+p.still(s.grant(), s.to), does+what)))
	p.ride(by)
}

// releases returns the entry of its own that a release removed on the server of s before it
// removed s, as a library does that sends a command again; nil: none.
func (o *op) releases(s *stay) *stay {
	if o.f != history.Release || o.grant == nil {
		return nil
	}
	i := slices.IndexFunc(o.grant.op.stays, func(own *stay) bool { return own.by == o && own != s && own.server == s.server && own.to < s.to })
	if i < 0 {
		return nil
	}
	return o.grant.op.stays[i]
}

// prolongs tells that a client's request prolonged another client's entry.
func (p *plot) prolongs(s *stay, f foreign) {
	p.with(f.by.client)
	what := "renewal" // in the background
	if f.by.f == history.Extend || f.by.asks() && !before(f.by.done, f.pos) {
		what = f.by.f
	}
	entry := " " + s.owner() + " entry"
	if g := s.grant(); g != nil && g.until(f.pos) == 0 && f.by.asks() { // there is no lease to prolong
		p.add(happens(f.pos, s.server, "took "+f.by.client+"'s "+what+" for one of "+g.client+", whose entry it had",
			"takes "+f.by.client+"'s "+what+" for one of "+g.client+", whose entry it has"))
		return
	}
	p.add(works(f.pos, s.server, f.by.client, what, "prolonged"+entry, "prolongs"+entry))
}

// prolongsAnother tells that an operation, which may be nil, prolonged another client's entry.
func (p *plot) prolongsAnother(o *op) {
	for _, s := range p.d.stays {
		for _, f := range s.foreign {
			if o != nil && f.by == o {
				p.prolongs(s, f)
				return
			}
		}
	}
}

// refused reports whether the last acquire of o's client before o was refused.
func (d *digest) refused(o *op) (refused bool) {
	for _, before := range d.all {
		if before == o {
			break
		}
		if before.client == o.client && before.asks() {
			refused = before.outcome == history.Fail
		}
	}
	return refused
}

// entriesEnd tells how entries ended that had no user any more.
func (p *plot) entriesEnd(all []*stay) {
	gone := slices.DeleteFunc(slices.Clone(all), func(s *stay) bool { return s.to == none })
	for _, group := range p.d.together(gone) {
		p.entryEnds(group...)
	}
}

// entryEnds tells how an entry without a user ended, or several entries that ended as
// one.
func (p *plot) entryEnds(all ...*stay) {
	switch s := all[0]; {
	case s.to == none:
	case s.how == history.Expire:
		p.expired(all...)
	case s.how == history.Lose:
		p.lost(all...)
	case s.by != nil && s.by.client != s.client():
		p.trespass(s)
	case s.by != nil:
		its := "its" + entries(all)
		m := works(s.to, s.server, s.by.client, s.by.f, "removed "+its+p.d.answerless(all), "removes "+its)
		p.add(p.d.spread(all, func(s *stay) int { return s.to }, m))
	}
}

// answerless returns a clause about entries that one operation removed although its
// client was cut off from their servers: only the answers did not get through. It
// returns "" if no such fault explains that the client had no definite answer.
func (d *digest) answerless(all []*stay) string {
	by, certain := all[0].by, true
	for _, s := range all {
		i := slices.IndexFunc(d.faults, func(f *fault) bool {
			return f.Name == partition && f.strikes(by.client) && slices.Contains(f.on, s.server) && f.begins <= s.to && before(s.to, f.end)
		})
		if i < 0 || by.outcome != history.Info {
			return ""
		}
		certain = certain && d.faults[i].start <= s.to
	}
	switch {
	case len(all) == 1:
		return ": the request got through, but not its answer"
	case certain:
		return ": the requests got through, but not their answers"
	}
	return ": the requests got through, but not all of their answers"
}

// makes tells that servers made entries, with a note in the sentence. If the entries
// came at different times, it lists those that were there when the majority was
// reached.
func (p *plot) makes(note string, all ...*stay) {
	s, by, had, have := all[0], p.d.at(all[0].from)+p.d.slack(), "", ""
	if last := p.d.deciding(all); p.d.at(last.from) > by {
		s, by, had, have = last, p.d.at(last.from), "had ", "have made"
	}
	all = slices.DeleteFunc(slices.Clone(all), func(o *stay) bool {
		return p.d.at(o.from) > by || before(o.to, s.from)
	})
	if p.d.queue && s.op != nil {
		p.queued(s)
		return
	}
	if o := s.op; o != nil && before(o.over(), s.from) && note == "" {
		note = ", whose acquire was over"
	}
	p.with(s.client())
	who, makes, entries := s.home, "makes", " an entry for "+s.client()
	if len(all) > 1 {
		who, makes, entries = several(homes(all)), "make", " entries for "+s.client()
	}
	m := happens(s.from, who, had+"made"+entries+note, cmp.Or(have, makes)+entries).in(s.home)
	if had == "" {
		m = p.d.spread(all, func(s *stay) int { return s.from }, m)
	}
	p.add(m)
}
