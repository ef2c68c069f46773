package sim

import "time"

// wire is the connection from one member of an ensemble to another: what is sent
// arrives in order and some time later. What an isolation or a pause holds back
// arrives when it ends, as with TCP, unless the two have given each other up.
type wire struct {
	member   *member // that follows
	from, to *member
	link     *link
	turn     int           // what was sent in an earlier one is void
	arrives  time.Duration // when what was sent last does
	held     []*parcel
}

// parcel is what one member sends to another.
type parcel struct {
	wire    *wire
	turn    int
	kind    parcelKind
	logged  logged   // of a proposal
	message *message // a client's request
	zxid    int64
	session int64
}

type parcelKind uint8

const (
	// To the leader:
	forwarded parcelKind = iota // a request
	ack                         // all up to zxid is on disk
	touch                       // a sign of life of session
	// From it:
	proposal
	commit   // up to zxid
	answered // a request that makes no transaction
)

func (c *wire) empty() wire { return wire{held: c.held[:0]} }

// restart opens the wire anew, with nothing under way.
func (c *wire) restart(from, to *member) {
	w := from.server.world
	c.cut()
	c.from, c.to = from, to
	c.link = &from.links[to.n]
	if c.link.name == "" {
		c.link.name = w.memory.join(from.server.name, "→", to.server.name)
	}
	c.member = to
	if to == to.ensemble.leader {
		c.member = from
	}
	c.arrives = w.now
}

// cut ends it, and with it all that is under way.
func (c *wire) cut() {
	c.turn++
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

// open tells whether something can pass now.
func (c *wire) open() bool { return c.from.ensemble.linked(c.member) }

// send puts p on its way. Whether it gets there shows when it would arrive: what
// was under way before it must not come after it.
func (c *wire) send(p *parcel) {
	w := c.from.server.world
	latency := latencyMin + time.Duration(w.choose(c.link, w.latencies))*time.Microsecond
	c.arrives = max(w.now+latency, c.arrives)
	w.push(event{at: c.arrives, what: p})
}

// flow lets arrive what was held back, before what is still under way.
func (c *wire) flow() {
	w := c.member.server.world
	for _, p := range c.held {
		w.pushFirst(event{at: w.now, what: p})
	}
	c.held = c.held[:0]
}

// happen is p's arrival.
func (p *parcel) happen(*World) {
	c := p.wire
	e := c.member.ensemble
	switch {
	case p.turn != c.turn:
	case len(c.held) > 0 || !c.open():
		c.held = append(c.held, p)
		return
	case c.to == e.leader:
		e.heard(c.member, p)
	default:
		c.to.take(p)
	}
	e.free = append(e.free, p)
}
