package sim

import (
	"strconv"
	"time"
)

// wire is the connection from one member of an ensemble to another. Messages
// arrive in order and some time later. Messages held by an isolation or a pause
// arrive when it ends, as with TCP, unless the two have given each other up.
type wire struct {
	member   *member // the follower
	from, to *member
	link     *link
	turn     int           // messages of an earlier turn are void
	arrives  time.Duration // when the last message arrives
	held     []*parcel
}

// parcel is a message from one member to another.
type parcel struct {
	wire    *wire
	turn    int
	kind    parcelKind
	entry   logEntry // in a proposal
	message *message // a client's request
	zxid    int64
	session int64
	noted   int // see message.noted
}

type parcelKind uint8

const (
	// To the leader:
	forwarded parcelKind = iota // a request
	ack                         // all up to zxid is on disk
	touch                       // a sign of life of session
	// From the leader:
	proposal
	commit   // up to zxid
	answered // a request without a transaction
)

func (c *wire) empty() wire { return wire{held: c.held[:0]} }

// restart opens the wire again, with nothing under way.
func (c *wire) restart(from, to *member) {
	w := from.server.net
	c.cut()
	c.from, c.to = from, to
	c.link = &from.links[to.n]
	if c.link.name == "" {
		c.link.name = w.text.join(from.server.name, "→", to.server.name)
	}
	c.member = to
	if to == to.ensemble.leader {
		c.member = from
	}
	c.arrives = w.now
}

// cut closes the wire and drops everything under way.
func (c *wire) cut() {
	c.turn++
	for _, p := range c.held {
		c.member.server.net.lost(p.noted)
	}
	c.held = c.held[:0]
}

func (c *wire) parcel(k parcelKind) *parcel {
	e := c.from.ensemble
	var p *parcel
	if last := len(e.free) - 1; last >= 0 {
		p, e.free = e.free[last], e.free[:last]
	} else {
		p = new(parcel)
	}
	*p = parcel{wire: c, turn: c.turn, kind: k}
	return p
}

// open reports whether messages can pass now.
func (c *wire) open() bool { return c.from.ensemble.isLinked(c.member) }

// send sends p. Its arrival time is known only then, because earlier parcels must
// arrive first.
func (c *wire) send(p *parcel) {
	w := c.from.server.net
	if w.record != nil {
		p.noted = w.between(c.from.server, c.to.server, p.words())
	}
	c.arrives = max(w.now+w.latency(c.link), c.arrives)
	w.push(event{at: c.arrives, what: p})
}

// flow delivers held parcels before those that are still under way.
func (c *wire) flow() {
	w := c.member.server.net
	for _, p := range c.held {
		w.pushFirst(event{at: w.now, what: p})
	}
	c.held = c.held[:0]
}

// happen handles p's arrival.
func (p *parcel) happen() {
	c := p.wire
	e, w := c.member.ensemble, c.member.server.net
	switch {
	case p.turn != c.turn:
		w.lost(p.noted)
	case len(c.held) > 0 || !c.open():
		c.held = append(c.held, p)
		return
	case c.to == e.leader:
		w.reached(p.noted)
		e.take(c.member, p)
	default:
		w.reached(p.noted)
		c.to.take(p)
	}
	e.free = append(e.free, p)
}

// words returns a message between two members in short.
func (p *parcel) words() string {
	switch p.kind {
	case forwarded:
		return "forwards: " + packetWords(p.message.zk, true)
	case ack:
		return "has the transactions up to " + counter(p.zxid)
	case touch:
		return "a session is alive"
	case proposal:
		return "proposes transaction " + counter(p.entry.txn.Zxid)
	case commit:
		return "commits up to " + counter(p.zxid)
	}
	return "answers"
}

// counter returns the lower half of a zxid: the upper one is the number of the leader.
func counter(zxid int64) string { return strconv.FormatInt(zxid&0xffffffff, 10) }
