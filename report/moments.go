package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// moment is one thing that happened, told twice: as a sentence in the past,
// and as a line of the list.
type moment struct {
	pos    int // of its entry; the moments of a story have one order
	at     time.Duration
	lane   string // on which its number stands: a client, a server, the resource
	who    string // the subject of its sentence
	did    string // the rest of it; "": the sentences leave it out
	where  string // between the time and the subject: "before its write left"
	line   string
	weight weight
	wakes  bool // a paused client goes on

	noEntry bool // it has a time, and pos is the entry after it
}

// weight is how much a moment counts where there are too many.
type weight uint8

const (
	key    weight = iota // the story is none without it
	side                 // helps to understand
	detail               // nice to see
)

// add adds a moment, unless its entry has been told.
func (p *plot) add(m moment) {
	if !m.noEntry {
		if p.told(m.pos) {
			return
		}
		m.at = p.d.at(m.pos)
	}
	p.moments = append(p.moments, m)
}

func (p *plot) told(pos int) bool {
	return slices.ContainsFunc(p.moments, func(m moment) bool { return m.pos == pos && !m.noEntry })
}

// granted tells that g's client learned of its grant. note and now are what
// that means, in a sentence and in the list.
func (p *plot) granted(g *grant, note, now string) {
	p.with(g.client)
	with, short := p.terms(g)
	if s := p.d.stayOf(g.op); s != nil && p.late(g, s) {
		p.add(moment{
			pos: s.from, lane: s.server, who: s.server,
			did:  "made an entry for " + g.client + ", whose acquire did not hear of it yet",
			line: s.server + " makes an entry for " + g.client,
		})
		p.add(moment{
			pos: g.got, lane: g.client, who: g.client,
			did:  "took the answer, which it had only now, for a grant" + with + note,
			line: g.client + " learns of its grant" + short + now,
		})
		return
	}
	p.add(moment{
		pos: g.got, lane: g.client, who: g.client,
		did:  "was granted the lock" + with + note,
		line: g.client + " acquires the lock" + short + now,
	})
}

// late tells whether a client learned of its grant long after the server gave it.
func (p *plot) late(g *grant, s *stay) bool {
	delay := p.d.at(g.got) - p.d.at(s.from)
	return before(s.to, g.got) || delay > p.d.h.Header.Lease()/20 && delay > 0
}

// terms are a grant's token and lease.
func (p *plot) terms(g *grant) (with, short string) {
	until := g.until(g.got)
	switch {
	case g.token != 0 && until != 0:
		with = fmt.Sprintf(", with token %d and a lease until %s", g.token, p.d.units.at(until))
	case g.token != 0:
		with = fmt.Sprintf(", with token %d", g.token)
	case until != 0:
		with = ", with a lease until " + p.d.units.at(until)
	}
	if g.token != 0 {
		short += fmt.Sprintf(", token %d", g.token)
	}
	if until != 0 {
		short += ", lease until " + p.d.units.at(until)
	}
	return with, short
}

// holder tells how g was granted, and how its entry went while its client
// believed that it was there. It reports whether it did go.
func (p *plot) holder(g *grant) bool {
	p.granted(g, "", "")
	return p.loss(g, 2)
}

// loss tells how the entry of g went other than by its own release. depth
// bounds how far back the story goes.
func (p *plot) loss(g *grant, depth int) bool {
	s := p.d.stayOf(g.op)
	if s == nil {
		return p.leaseEnded(g)
	}
	if !before(s.to, p.climax+1) {
		return false
	}
	switch s.how {
	case history.Expire:
		p.expired(g.client, g, s)
	case history.Lose:
		p.add(moment{
			pos: s.to, lane: s.server, who: s.server,
			did:  "lost the entry of " + g.client + p.still(g, s.to),
			line: s.server + " loses the entry of " + g.client,
		})
	default:
		if s.by == nil || s.by.grant == g || s.by == g.op {
			return false
		}
		if c := s.by.grant; c != nil && depth > 0 {
			p.granted(c, "", "")
			p.loss(c, depth-1)
		}
		p.trespass(s)
	}
	return true
}

// leaseEnded is for histories that do not show the servers: what is known of
// a lease is what its holder says.
func (p *plot) leaseEnded(g *grant) bool {
	until := g.until(p.climax)
	if until == 0 || until >= p.d.at(p.climax) {
		return false
	}
	pos := slices.IndexFunc(p.d.h.Entries, func(e history.Entry) bool { return e.Time >= until })
	if pos <= g.got || !g.holds(pos) {
		return false
	}
	p.add(moment{
		pos: pos, at: until, noEntry: true, lane: g.client, who: "the lease of " + g.client,
		did:  "ended" + p.still(g, pos),
		line: "the lease of " + g.client + " ends",
	})
	return true
}

// still says that a holder goes on believing.
func (p *plot) still(g *grant, pos int) string {
	switch {
	case g.holds(pos):
		return ", while " + g.client + " still believed that it held the lock"
	case g.release != nil && g.release.invoke <= pos && before(pos, g.release.done):
		return ", before the release of " + g.client + " got there"
	}
	return ""
}

// expired tells that a server dropped an entry whose time was over, by its own
// clock. g is nil where nobody learned of a grant.
func (p *plot) expired(owner string, g *grant, s *stay) {
	m := moment{pos: s.to, lane: s.server}
	at, slack := p.d.at(s.to), p.d.h.Header.Lease()/20
	var until time.Duration
	if g != nil {
		until = g.until(s.to)
	}
	switch {
	case until == 0:
		m.who, m.did = s.server, "dropped the entry of "+owner+": its time was over"
		m.line = "the entry of " + owner + " expires"
	case at < until-slack:
		early := p.d.units.span(until - at)
		m.who, m.did = s.server, "dropped the entry of "+owner+" as expired, "+early+" before the lease ended"
		m.line = s.server + " drops the entry of " + owner + " as expired, " + early + " too early"
	case at > until+slack:
		late := p.d.units.span(at - until)
		m.who, m.did = s.server, "dropped the entry of "+owner+", "+late+" after the lease had ended"
		m.line = "the entry of " + owner + " expires, " + late + " late"
	default:
		m.who, m.did = "the lease of "+owner, "ended and "+s.server+" dropped the entry"
		m.line = "the lease of " + owner + " ends: " + s.server + " drops the entry"
	}
	if g != nil {
		m.did += p.still(g, s.to)
	}
	p.add(m)
}

// trespass tells that a command removed or took over somebody else's entry.
func (p *plot) trespass(s *stay) {
	owner, by := s.client(), s.by
	if by == nil || owner == "" {
		return
	}
	p.with(by.client)
	whose := "the entry of " + owner
	if by.client == owner {
		whose = "the newer entry of " + owner
	}
	did, does := "removed", "removes"
	if s.how == history.Takeover {
		did, does = "took over", "takes over"
	}
	note := ""
	if g := s.op.grant; g != nil {
		note = p.still(g, s.to)
	}
	p.add(moment{
		pos: s.to, lane: s.server, who: "the " + by.f + " of " + by.client,
		did:  did + " " + whose + note,
		line: "the " + by.f + " of " + by.client + " " + does + " " + whose,
	})
	p.ride(by)
}

// ride draws a request from its invoke to its effect, if that takes long.
func (p *plot) ride(o *op) {
	if o != nil && o.effect != none && p.d.at(o.effect)-p.d.at(o.invoke) > p.d.h.Header.Lease()/20 && !slices.Contains(p.rides, o) {
		p.rides = append(p.rides, o)
	}
}

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
	servers := p.servers()
	for _, f := range p.d.faults {
		client := slices.Contains(p.clients, f.on[0])
		if !f.hit() || !client && !slices.Contains(servers, f.on[0]) ||
			f.start > p.climax || before(f.end, first) || len(f.on) > 1 && !client {
			continue
		}
		w := f.words()
		past := p.d.tell(f, w.past)
		who := f.on[0]
		did, ok := strings.CutPrefix(past, who+" ")
		if !ok {
			who, did, _ = strings.Cut(past, " ")
		}
		p.add(moment{
			pos: f.start, lane: f.on[0], who: who, did: did, where: f.where(),
			line: p.d.tell(f, w.now), weight: side,
		})
		if f.kind == pause && before(f.end, last+1) {
			p.add(moment{
				pos: f.end, lane: f.on[0], who: f.on[0], did: "woke up", line: f.on[0] + " wakes up",
				weight: side, wakes: true,
			})
		}
	}
}

// servers are those that a story has to do with: where its clients had entries.
func (p *plot) servers() []string {
	var names []string
	for _, s := range p.d.stays {
		if !slices.Contains(names, s.server) {
			names = append(names, s.server)
		}
	}
	return names
}
