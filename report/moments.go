package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// granted tells that g's client learned of its grant. note and now add the meaning of
// that, in the sentence and in the list.
func (p *plot) granted(g *grant, note, now string) {
	p.with(g.client)
	with, short := p.terms(g, note == "")
	m := moment{
		pos: g.got, lane: g.client, actor: g.client, who: g.client, gets: true,
	}
	if note == "" {
		m.grant = g
	}
	entries := g.restsOn()
	late := len(entries) > 0 && p.late(g, p.d.deciding(entries))
	switch {
	case late && p.d.queue: // it has waited
		p.queued(entries[0])
		late = false
	case late:
		p.makes(", whose acquire was not over yet", entries...)
	}
	by, on := p.grantors(entries)
	if p.d.h.Entries[g.op.invoke].Text == outOfTurn && p.d.place(g.op) == nil {
		by, on = " without a place in the queue"+by, " without a place in the queue"+on
	}
	m.did = "was granted the lock" + by + with + note
	m.line = g.client + " acquires the lock" + on + short + now
	switch until := g.until(g.got); {
	case p.d.unserved(g):
		m.did = "was told that it had the lock" + with
		m.line = g.client + " is told that it has the lock" + short
		if s := g.op.served; s == none || p.d.passing(g.op) {
			m.did += ", but no entry for it was visible" + note
			m.line += "; no entry for it is visible" + now
		} else { // it was so before the note
			only := "visible only from " + p.d.units.at(p.d.at(s)) + " on"
			m.did += note + ", but its entry was " + only
			m.line += now + "; its entry is " + only
		}
	case g.confirmed:
		p.unanswered(g.op)
		by := possessive(g.client) + " renewal"
		if f := p.d.h.Entries[g.got].F; f == history.Extend {
			by = possessive(g.client) + " " + f
		}
		m.who, m.did = by, "confirmed that it held the lock"+with+note
		m.line = by + " confirms that it holds the lock" + short + now
	case late && until != 0 && until <= p.d.at(g.got):
		m.did = "heard of its grant, whose lease was over" + note
		m.line = g.client + " learns of its grant" + short + now
	case late:
		m.did = "heard of its grant" + with + note
		m.line = g.client + " learns of its grant" + short + now
	}
	p.add(m)
}

// outOfTurn is the text of an acquire that takes no place in the queue.
const outOfTurn = "out of turn"

// grantors lists the servers that granted a lock, if there are several: " by redis-1
// and redis-2", and " on" them.
func (p *plot) grantors(entries []*stay) (by, on string) {
	if p.d.queue || len(homes(p.d.stays)) < 2 || len(entries) == 0 {
		return "", ""
	}
	servers := several(homes(entries))
	by, on = " by "+servers, " on "+servers
	if made := len(homes(entries[0].op.stays)); made <= p.d.h.Header.Nodes/2 && slices.Contains(p.d.h.Header.Observes, string(checker.Answers)) {
		by, on = by+", "+noMajority(made), on+", no majority"
	}
	return by, on
}

// noMajority says of n servers that they are too few.
func noMajority(n int) string {
	if n == 1 {
		return "which is no majority"
	}
	return "which are no majority"
}

// late reports whether a client learned of its grant long after the server gave it, or after
// that went down.
func (p *plot) late(g *grant, s *stay) bool {
	return before(s.to, g.got) || p.d.at(g.got)-p.d.at(s.from) > p.d.slack() ||
		slices.ContainsFunc(p.d.downs[s.server], func(f *fault) bool { return s.from < f.start && f.start < g.got })
}

// terms returns a grant's token and lease, in a sentence, in which the lease may be left
// out, and in the list.
func (p *plot) terms(g *grant, lease bool) (with, short string) {
	var terms []string
	if g.token != 0 {
		token := fmt.Sprintf("token %d", g.token)
		terms, short = append(terms, token), ", "+token
	}
	if until := g.until(g.got); until != 0 {
		ends := "lease until " + p.d.units.at(until)
		short += ", " + ends
		if lease := p.d.h.Header.Lease(); lease > 0 && !g.confirmed && until-p.d.at(g.got) > lease+p.d.noise() {
			ends += longerThan + p.d.units.span(lease)
		}
		if lease {
			if p.d.misjudges(g) {
				ends += ", as it thought"
			}
			terms = append(terms, "a "+ends)
		}
	}
	if len(terms) > 0 {
		with = ", with " + list(terms)
	}
	return with, short
}

// longerThan is said of a grant with a longer lease than the run's.
const longerThan = ", longer than "

// misjudges reports whether g's client counted its lease by a clock that a fault had set, and
// others found that the lease was over before.
func (d *digest) misjudges(g *grant) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		return f.Clock && f.strikes(g.client) && f.start < g.got && before(g.op.invoke, f.end)
	}) && slices.ContainsFunc(g.op.stays, func(s *stay) bool {
		return s.to > g.got && !s.own() && s.how != history.Remove && d.at(s.to) < g.until(s.to)-d.noise()
	})
}

// leaves tells how a holder released the lock, and the outcome. If the answer took long,
// it is a moment of its own, unless it is a plain yes or comes after the climax, and no
// fault delayed it.
func (p *plot) leaves(g *grant, w weight) {
	o := g.release
	if o == nil {
		return
	}
	m := acts(o.invoke, g.client, "released the lock", "releases the lock").weighing(w)
	if first := g.entrance(p.d).release; first != nil && first.invoke < o.invoke {
		m = acts(o.invoke, g.client, "released the lock once more", "releases the lock once more").weighing(w)
	}
	told, hears, late := p.answer(g)
	interrupted := slices.ContainsFunc(p.d.faults, func(f *fault) bool {
		return f.hit() && f.strikes(g.client) && f.start > o.invoke && before(f.start, o.over())
	})
	switch slow := p.d.at(o.over())-p.d.at(o.invoke) > p.d.slack(); {
	case !slow && !interrupted:
		if o.outcome == history.Fail && told == failed {
			m.did, m.line = "tried to release the lock", g.client+" tries to release the lock"
			told, hears = told+p.d.reason(o), hears+p.d.reason(o)
		}
		if told != "" {
			m.did += " and " + told
			m.line += " and " + hears
		}
	default:
		m.did, m.line = "began to release the lock", g.client+" begins to release the lock"
		to, others := " to its release", p.d.amongOthers(o)
		if others {
			to += " of " + p.d.units.at(p.d.at(o.invoke))
		}
		did, does := heard(late, to)
		if slices.ContainsFunc(p.d.faults, func(f *fault) bool {
			return strings.HasPrefix(f.point, g.client+" "+o.f+": after ") && f.strikes(g.client) && f.start > o.invoke && before(f.start, o.done)
		}) { // the answer may have come before the fault
			did = strings.Replace(did, "got the answer to", "learned the outcome of", 1)
			does = strings.Replace(does, "gets the answer to", "learns the outcome of", 1)
		}
		switch {
		case o.over() == none:
			m.did += "; no answer had come by the end"
			m.line += "; no answer has come by the end"
		case late != "":
			a := acts(o.done, o.client, did, does).weighing(detail)
			a.answers = o.invoke
			if (late == yes || o.done > p.climax) && !interrupted && !others {
				a.answered, a.reads = heard(late, "")
			}
			if w == detail {
				a.did = ""
			}
			p.add(a)
		}
	}
	if w == detail {
		m.did = ""
	}
	p.add(m)
	p.ride(o)
	if w != detail && o.outcome == history.Info && o.err != history.ErrCrashed {
		p.weigh(detail, func() {
			p.entriesEnd(slices.DeleteFunc(slices.Clone(g.op.stays), func(s *stay) bool { return s.by != o || s.to > p.climax }))
		})
	}
}

// amongOthers reports whether the client of o began another operation before o was
// over, so that "its release" may mean another one.
func (d *digest) amongOthers(o *op) bool {
	return slices.ContainsFunc(d.all, func(x *op) bool {
		return x.client == o.client && x.invoke > o.invoke && x.invoke < o.done
	})
}

// Answers to a release that came late, and what ended the wait for one.
const (
	yes    = "yes"
	silent = "silent" // no answer came in time
	unsure = "unsure" // the outcome is unknown
)

// failed is a release's answer that released nothing.
const failed = "failed"

// heard returns in words how a client's wait for an answer ended.
func heard(late, to string) (did, does string) {
	switch late {
	case unsure:
		return "gave up on its release without knowing what had come of it", "gives up on its release, whose result it does not know"
	case silent:
		return "stopped waiting for an answer" + to, "stops waiting for an answer" + to
	}
	return "got the answer" + to + ": " + late, "gets the answer" + to + ": " + late
}

// answer returns the answer to the release of g: in the past tense, in the present tense,
// and as an answer that came late. A plain yes goes without saying: told is "". So are all
// three if its client died or the history ended before.
func (p *plot) answer(g *grant) (told, hears, late string) {
	switch o := g.release; {
	case o.done == none || o.err == history.ErrCrashed:
	case o.outcome == history.Fail && o.err == history.ErrLost:
		return "was told that it had lost it", "is told that it has lost it", "it had lost the lock"
	case o.outcome == history.Fail && o.err == history.ErrNotHeld && g.freed():
		return "was told that it did not hold it, although that had removed its entry", "is told that it does not hold it, although that has removed its entry", "no, although it had removed its entry"
	case o.outcome == history.Fail && o.err == history.ErrNotHeld:
		return "was told that it no longer held it", "is told that it no longer holds it", "the lock was no longer its own"
	case o.outcome == history.Fail:
		return failed, "fails", "an error" + p.d.reason(o) + ", and nothing was released"
	case o.err == history.ErrBudget:
		return "made more requests than it may", "makes more requests than it may", "none, for all the requests that it had made"
	case o.outcome == history.Info && o.err == history.ErrTimeout:
		return "got no answer", "gets no answer", silent
	case o.outcome == history.Info:
		return "did not learn what came of it", "does not learn what comes of it", unsure
	default:
		left := slices.DeleteFunc(slices.Clone(g.op.stays), func(s *stay) bool {
			return s.by == o || s.from >= o.done || !before(o.done, s.to)
		})
		servers := serving(left)
		entry, stays := "its entry", " stays"
		switch {
		case len(left) == 0 && (p.d.idle(g) || p.d.lent(g)):
			return "was told yes, but removed nothing", "is told yes, but removes nothing", "yes, but it had removed nothing"
		case len(left) == 0:
			return "", "", yes
		case len(servers) > 1:
			entry, stays = "its entries on "+several(servers), " stay"
		case len(homes(g.op.stays)) > 1:
			entry += " on " + servers[0]
		}
		return "was told yes, but " + entry + " stayed", "is told yes, but " + entry + stays, "yes, but " + entry + " stayed"
	}
	return "", "", ""
}

// freed reports whether the release of g removed an entry of g.
func (g *grant) freed() bool {
	return slices.ContainsFunc(g.op.stays, func(s *stay) bool { return s.by == g.release })
}

// idle reports whether the release of g, which was ok, did nothing to any entry,
// although g had entries that the servers' lines show.
func (d *digest) idle(g *grant) bool {
	return g.release.effect == none && len(g.op.stays) > 0 && slices.Contains(d.h.Header.Observes, string(checker.Answers))
}

// lent reports whether g rests on another client's entry, which its release did not remove.
func (d *digest) lent(g *grant) bool {
	s, _ := d.borrows(g)
	return s != nil && s.by != g.release
}

// asks tells that a client wants the lock.
func (p *plot) asks(o *op) { p.wants(o, side) }

// wants is asks with a given weight.
func (p *plot) wants(o *op, w weight) {
	p.with(o.client)
	p.add(acts(o.invoke, o.client, "asked for the lock", "asks for the lock").weighing(w))
}

// unanswered tells how an acquire ended that left an entry but got no grant.
func (p *plot) unanswered(o *op) {
	if o.done == none || o.err == history.ErrCrashed || o.outcome != history.Fail && o.outcome != history.Info {
		return
	}
	why := p.d.reason(o)
	broken := o.err == errUnavailable || o.err == errUnknown
	queued := p.d.queue && o.last() != nil && before(o.done, o.last().to)
	did, does := "gave up on its acquire without knowing what had come of it", "gives up on its acquire, whose result it does not know"
	switch {
	case o.outcome == history.Fail:
		did, does = "was told that it had not got the lock, although the entry was its own", "is told no, although the entry is its own"
	case queued && broken && !strings.Contains(why, "stays in the queue"):
		did, does = "ended, its outcome unknown"+why+", and its node stayed in the queue", "ends, its outcome unknown"+why+"; its node stays in the queue"
	case broken:
		did, does = "ended, its outcome unknown"+why, "ends, its outcome unknown"+why
	case queued:
		did, does = "gave up on its acquire, and its node stayed in the queue", "gives up on its acquire; its node stays in the queue"
	}
	if broken && o.outcome != history.Fail {
		p.add(works(o.done, o.client, o.client, "acquire", did, does))
		return
	}
	p.add(acts(o.done, o.client, did, does))
}

// next tells which client was granted the lock after a position.
func (p *plot) next(pos int, note, now string) {
	for _, g := range p.d.grants {
		if pos != none && g.got > pos {
			p.granted(g, note, now)
			return
		}
	}
}

// ended returns in words how an acquire ended without a grant.
func (p *plot) ended(o *op) (who, did, does string) {
	why := p.d.reason(o)
	switch {
	case o.err == history.ErrHeld:
		return o.client, "was refused the lock", "is refused the lock"
	case o.err == history.ErrTimeout:
		return o.client, "stopped waiting for the lock", "stops waiting for the lock"
	case o.outcome == history.Info:
		return possessive(o.client) + " acquire", "ended, its outcome unknown" + why, "ends, its outcome unknown" + why
	}
	return o.client, "ended its acquire without a grant" + why, "ends its acquire without a grant" + why
}

// longestReason is the largest number of characters of an error's text that a story repeats.
const longestReason = 60

// reason returns the text of the error with which an operation ended, in brackets, or "".
func (d *digest) reason(o *op) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(d.h.Entries[o.done].Text, o.err+": "), "\n")
	if text == "" || len([]rune(text)) > longestReason {
		return ""
	}
	return " (" + text + ")"
}
