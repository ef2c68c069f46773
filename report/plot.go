package report

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// plot is the content of a story: its moments in order, and the marks in the lanes.
// Each property has a function that collects them, see tellOf; moments.go, entries.go,
// access.go and loss.go are for all.
type plot struct {
	tooLong    string // the reason why nothing else is here; "": there is none
	d          *digest
	title      string // the verdict's title; "": use the witness's sentence
	moments    []moment
	said       map[int]bool // the entries that have a moment
	extended   int          // the position of an extend from which on both of two holders had a lease, or none
	leases     bool         // holds are over with their leases
	climax     int          // the position at which the violation has happened
	since      int          // the position from which a client waited; 0: the story is not about waiting
	clients    []string
	spans      []span
	more       []span // other overlaps of holds
	rides      []*op  // requests drawn from their invoke to their effect
	coda       string // the last sentence, without a moment
	whole      bool   // coda is about all of the run
	recovers   *fault // the end of this fault of a server is part of the story, or nil
	keeper     *grant // the grant that kept other clients out, if the story has told all about it
	everyFault bool   // no promise was broken: the story tells of every fault, or how many more there were
	intact     bool   // every update of the resource was computed from the value that it replaced
}

// moment is one event in two forms: a sentence in the past tense, and a line of the
// list.
type moment struct {
	pos    int // position of its entry
	at     time.Duration
	lane   string // the lane of its number: a client, a server, the resource
	actor  string // the client that acts; "": no client
	who    string // the subject of its sentence
	latest string // the subject of the last clause of did, if it has one of its own
	did    string // the rest of the sentence; "": in the list only
	point  string // at which a fault struck
	where  string // between the time and the subject: "before its write left"
	line   string
	weight weight
	gets   bool   // a client is granted the lock
	grant  *grant // what it gets, if nothing is said of other holders; nil: none
	wakes  bool   // a paused client goes on
	joins  string // the client that queues up; "": no client
	behind string // the client that it queues up behind; "": none
	faults []int  // the first lines of the faults that it tells of

	between string // its time in words if it is uncertain: "0.80 s and 1.64 s"

	obvious bool // right after the moment before it, where adds nothing new

	number  int  // in the list, from 1; only sentences have it
	noEntry bool // it has a time of its own, and pos is the entry after it

	answers         int    // of the answer to a release: the release's position
	answered, reads string // what it says if it is one sentence, and one line, with the release; "": it is not
}

// happens returns the moment at which who, whose lane shows it, did something: in the past
// tense, and in the present tense.
func happens(pos int, who, did, does string) moment {
	return moment{pos: pos, lane: who, who: who, did: did, line: who + " " + does}
}

// acts returns the moment at which a client did something.
func acts(pos int, client, did, does string) moment {
	m := happens(pos, client, did, does)
	m.actor = client
	return m
}

// works returns the moment at which a client's request did something, in a lane.
func works(pos int, lane, client, request, did, does string) moment {
	m := happens(pos, possessive(client)+" "+request, did, does).in(lane)
	m.actor = client
	return m
}

// in returns m with its number in a lane.
func (m moment) in(lane string) moment {
	m.lane = lane
	return m
}

// weighing returns m with a weight.
func (m moment) weighing(w weight) moment {
	m.weight = w
	return m
}

// weight is the importance of a moment. The least important ones are dropped if there
// are too many.
type weight uint8

const (
	key    weight = iota // there is no story without it
	side                 // it helps the reader to understand
	detail               // optional
	minor                // optional, and without a sentence
)

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

// add adds a moment, unless its entry has one already.
func (p *plot) add(m moment) {
	if !m.noEntry {
		if p.said[m.pos] {
			return
		}
		m.at = p.d.at(m.pos)
		p.said[m.pos] = true
	}
	if p.d.queue {
		m.did, m.line = inQueue(m.did), inQueue(m.line)
	}
	p.moments = append(p.moments, m)
}

// with gives a client a lane.
func (p *plot) with(client string) {
	if client != "" && !slices.Contains(p.clients, client) {
		p.clients = append(p.clients, client)
	}
}

// weigh gives the moments that tell adds a weight, unless they weigh less.
func (p *plot) weigh(w weight, tell func()) {
	n := len(p.moments)
	tell()
	for i := range p.moments[n:] {
		m := &p.moments[n+i]
		m.weight = max(m.weight, w)
	}
}

// maxMoments is how many moments a story has: each is numbered by one digit.
const maxMoments = 9

func (p *plot) empty() bool { return len(p.moments) == 0 }

// grantsAt returns the grants whose acquires completed at the positions.
func (p *plot) grantsAt(witness []int) []*grant {
	return slices.DeleteFunc(slices.Clone(p.d.grants), func(g *grant) bool { return !slices.Contains(witness, g.got) })
}

// both returns the time in which both held.
func both(d *digest, x, y *grant) span {
	end := x.end
	if before(y.end, end) {
		end = y.end
	}
	s := span{label: "both hold", x: x, y: y, from: d.at(y.got), to: d.at(end)}
	if x.client == y.client {
		s.label = "holds twice"
	}
	return s
}

// lock returns the lock's name as a title has it.
func (p *plot) lock() string {
	if p.d.lock == "" {
		return "the lock"
	}
	return strconv.Quote(p.d.lock)
}

// during returns a span in words.
func (p *plot) during(s span) string {
	from, to := p.d.units.at(s.from), p.d.units.at(s.to)
	if from == to {
		return "at " + from
	}
	return "from " + from + " to " + to
}

// ride draws a request from its invoke to its effect if the request took long, and
// not only because its client was paused.
func (p *plot) ride(o *op) {
	if o == nil || o.effect == none || slices.Contains(p.rides, o) {
		return
	}
	if (o.f == history.Acquire || o.f == history.Try) && !before(o.done, o.effect) {
		return // it may have asked several times, the last time just before
	}
	long := p.d.at(o.effect) - p.d.at(o.invoke)
	for _, f := range p.d.faults {
		if f.Name == pause && f.strikes(o.client) && f.start >= o.invoke && before(f.end, o.effect) {
			long -= p.d.at(f.end) - p.d.at(f.start)
		}
	}
	if long > p.d.slack() {
		p.rides = append(p.rides, o)
	}
}
