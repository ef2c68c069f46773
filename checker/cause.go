package checker

import (
	"sort"

	"github.com/lockcheck/lockcheck/history"
)

// cause is the cause of a violation, and whom the fault that led to it may have struck.
type cause struct {
	did      string
	from, to int32 // positions between which that fault was active
	at       int32 // where the decisive event was: a fault that was active there goes first
	clients  []int32
	servers  []string
	others   []int32 // clients that are concerned, too
}

// blamer finds causes in the entries of the stores.
type blamer struct{ stored }

// about makes the clients of some lines the ones that the fault may have struck.
func (b *blamer) about(c cause, lines []int32) cause {
	for _, pos := range lines {
		if o := b.opAt[pos]; o != none {
			c.clients = append(c.clients, b.clientOf(o))
		}
	}
	return c
}

// begun returns the first two holds that begin at some lines, or none.
func (b *blamer) begun(lines []int32) (first, second int32) {
	first, second = none, none
	for _, pos := range lines {
		for id := range b.holds {
			switch {
			case b.holds[id].begin != pos:
			case first == none:
				first = int32(id)
			case second == none && int32(id) != first:
				second = int32(id)
			}
		}
	}
	return first, second
}

// actAt returns the act of a server at pos, or nil.
func (b *blamer) actAt(pos int32) *act {
	i := sort.Search(len(b.acts), func(i int) bool { return b.acts[i].pos >= pos })
	if i == len(b.acts) || b.acts[i].pos != pos {
		return nil
	}
	return &b.acts[i]
}

func (b *blamer) client(h *hold) int32 { return b.procs[h.proc].client }

// hosts returns the servers that had an entry.
func (b *blamer) hosts(s *stay) []string {
	list := []string{b.entry(s.from).Process.Name, b.entry(s.at).Process.Name}
	if s.to < b.size() {
		list = append(list, b.entry(s.to).Process.Name)
	}
	return list
}

// overlap returns why the second of two holds could begin during the first: what became
// of the entry of the one that a server granted first.
func (b *blamer) overlap(x, y int32) cause {
	first, second, until := &b.holds[x], &b.holds[y], b.holds[y].begin
	c := cause{from: b.ops[first.op].invoke, to: until, at: until}
	a, o := first, second
	if served := b.served[a.stands]; b.served[o.stands] != none && (served == none || b.served[o.stands] < served) {
		a, o = o, a
		c.from = b.ops[a.op].invoke
	}
	c.clients, c.others = []int32{b.client(a)}, []int32{b.client(o)}
	switch {
	case len(b.acts) == 0:
		until := b.validUntil(first, second.begin)
		if c.did = "lease-running"; until == 0 {
			c.did = "unseen"
		} else if until <= b.at(second.begin) {
			c.did = "lease-over"
		}
	case b.served[o.stands] == none || b.served[o.stands] > until:
		c.did, c.clients, c.others = "granted-without-entry", c.others, c.clients
		c.from = b.ops[o.op].invoke
	case b.loss(a, o, until) != nil:
		return b.ended(c, a, b.loss(a, o, until))
	case b.few(a, until):
		c.did = "held-without-majority"
	case b.few(o, until):
		c.did, c.clients, c.others = "granted-without-majority", c.others, c.clients
		c.from = b.ops[o.op].invoke
	case b.prolongs(o, a):
		c.did = "acquire-prolonged-others-entry"
	default:
		c.did, c.clients, c.others = "entered-beside-entry", c.others, c.clients
		c.from = min(c.from, b.ops[o.op].invoke)
	}
	return c
}

// loss returns the last entry of a that ended before until, or nil. An entry whose place
// another one of o took goes first: the others let nobody in.
func (b *blamer) loss(a, o *hold, until int32) (last *stay) {
	let := false
	for _, s := range b.staysOf(a.stands) {
		if s.to > until {
			continue
		}
		in := b.follows(o, s)
		if last == nil || in && !let || in == let && s.to > last.to {
			last, let = s, in
		}
	}
	return last
}

// follows reports whether o has an entry in the place of s.
func (b *blamer) follows(o *hold, s *stay) bool {
	for _, x := range b.staysOf(o.stands) {
		if x.from >= s.to && b.entry(x.from).Key == b.entry(s.from).Key && b.entry(x.from).Process.Name == b.entry(s.to).Process.Name {
			return true
		}
	}
	return false
}

// few reports whether h, whose lock needs a majority, has entries on fewer servers at pos.
func (b *blamer) few(h *hold, pos int32) bool {
	n := 0
	for _, s := range b.staysOf(h.stands) {
		if s.from <= pos && pos < s.to {
			n++
		}
	}
	return n <= b.head.Nodes/2 && b.head.Nodes > 1
}

// prolongs reports whether the acquire of o prolonged an entry of a.
func (b *blamer) prolongs(o, a *hold) bool {
	for i := range b.acts {
		if x := &b.acts[i]; x.deed == prolonged && b.asked(x.made) == a.stands && x.by == o.op {
			return true
		}
	}
	return false
}

// ended completes c with the way in which an entry of h ended, and the fault that
// led to it.
func (b *blamer) ended(c cause, h *hold, s *stay) cause {
	a := b.actAt(s.to)
	c.at = s.to
	early := ""
	if s.to < h.begin {
		early = "-unheard"
	}
	switch a.deed {
	case expired:
		c.did = b.expiry(h, s) + early
		c.servers = b.hosts(s)
	case lost:
		c.from, c.servers = s.from, b.hosts(s)
		if c.did = "entry-lost" + early; b.entry(s.to).Text == history.SessionOver {
			c.did = "session-over" + early
		} else { // it is the server's fault
			c.others, c.clients = append(c.others, c.clients...), nil
		}
	default:
		to := c.to
		c = b.trespass(a, h)
		c.did, c.to = c.did+early, to
	}
	return c
}

// expiry returns how an entry of h came to expire.
func (b *blamer) expiry(h *hold, s *stay) string {
	since, nearer := s.from, none
	for i := range b.acts {
		a := &b.acts[i]
		if a.pos <= s.from || a.pos >= s.to || b.asked(a.made) != h.stands || b.entry(a.pos).Key != b.entry(s.from).Key {
			continue
		}
		switch {
		case a.deed == prolonged, a.deed == shortened && a.by != none && b.owns(&b.ops[a.by], a.by, h):
			since, nearer = a.pos, none
		case a.deed == shortened:
			nearer = int32(i)
		}
	}
	const noise = 400 // parts of a lease that times may differ by
	switch until := b.validUntil(h, s.to); {
	case nearer != none && b.acts[nearer].by != none:
		return b.step(&b.acts[nearer], h) + "-so-it-expired"
	case until == 0, until <= b.at(s.to)+b.lease/noise, s.to < h.begin:
		return "entry-expired"
	case b.at(s.to)-b.at(since) < b.lease-b.lease/noise:
		return "entry-expired-early"
	}
	return "lease-counted-too-long"
}

// trespass is the cause that an act ended or shortened an entry of h.
func (b *blamer) trespass(a *act, h *hold) cause {
	c := cause{did: b.step(a, h), from: b.ops[h.op].invoke, to: a.pos, at: a.pos, clients: []int32{b.client(h)}, servers: []string{b.entry(a.pos).Process.Name}}
	if a.by == none {
		return c
	}
	by := &b.ops[a.by]
	c.others, c.clients, c.servers = append(c.clients, c.others...), []int32{b.procs[by.proc].client}, nil
	c.from = by.invoke
	if by.hold != none {
		c.from = min(c.from, b.ops[b.holds[by.hold].op].invoke)
	}
	return c
}

// step names an act on an entry of h, as in "late-release-removed-others-entry".
func (b *blamer) step(a *act, h *hold) string {
	did := map[deed]string{removed: "removed", takenOver: "took-over", shortened: "shortened"}[a.deed]
	if a.by == none {
		return "outsider-" + did + "-entry"
	}
	by := &b.ops[a.by]
	verb, whose := b.entry(by.invoke).F, "others"
	over := by.done != none && by.done < a.pos
	switch {
	case by.verb == acquire && over && a.deed != removed && by.hold != none && b.holds[by.hold].covers(a.pos):
		verb = "renewal" // in the background
	case over:
		verb = "late-" + verb // its client no longer waited for an answer
	case by.verb == release && by.hold == none:
		verb = "ungranted-release"
	}
	switch {
	case b.owns(by, a.by, h):
		whose = "own"
	case b.procs[by.proc].client == b.client(h):
		whose = "own-newer"
	}
	return verb + "-" + did + "-" + whose + "-entry"
}

// lostUpdate returns the cause of a write that destroyed another one: that of the
// overlap of the two holds, unless they did not overlap.
func (b *blamer) lostUpdate(lines []int32) cause {
	last := lines[len(lines)-1]
	c := cause{did: "unknown", to: last, at: last}
	writer, other := b.holdAt(last), none
	for _, pos := range lines[:len(lines)-1] {
		if id := b.holdAt(pos); id != none && (writer == none || b.holds[id].nest != b.holds[writer].nest) {
			other = id
		}
	}
	if writer == none || other == none {
		return b.about(c, lines)
	}
	x, y := min(writer, other), max(writer, other)
	if b.holds[x].end <= b.holds[y].begin {
		c.did = "late-write"
		c.clients, c.others = []int32{b.client(&b.holds[x])}, []int32{b.client(&b.holds[y])}
		c.from = b.ops[b.holds[x].op].invoke
		return c
	}
	c = b.overlap(x, y)
	c.to = last
	return c
}

// holdAt returns the hold under which the access at pos was made, or none.
func (b *blamer) holdAt(pos int32) int32 {
	if o := b.opAt[pos]; o != none {
		return b.ops[o].hold
	}
	i := sort.Search(len(b.accesses), func(i int) bool { return b.accesses[i].pos >= pos })
	if i < len(b.accesses) && b.accesses[i].pos == pos {
		return b.accesses[i].hold
	}
	return none
}

// tokens returns the cause of a token that did not grow from hold x to hold y.
func (b *blamer) tokens(x, y int32) cause {
	a, o := &b.holds[x], &b.holds[y]
	c := cause{did: "token-fell", from: b.ops[a.op].invoke, to: o.begin, at: o.begin, others: []int32{b.client(a), b.client(o)}}
	if a.token == o.token {
		c.did = "token-repeated"
	}
	for _, h := range []*hold{a, o} {
		for _, s := range b.staysOf(h.stands) {
			c.servers = append(c.servers, b.hosts(s)...)
		}
	}
	return c
}

// untrueAnswer returns the cause of an answer that was not true.
func (b *blamer) untrueAnswer(lines []int32) cause {
	last := lines[len(lines)-1]
	c := cause{did: "renewed-after-loss", to: last, at: last}
	for _, pos := range lines {
		id := b.opAt[pos]
		if id == none || b.ops[id].done != pos {
			continue
		}
		switch o := &b.ops[id]; {
		case o.verb == acquire && o.outcome == history.Fail:
			c.did, c.from = "refused-with-entry", o.invoke
		case o.verb == release && o.outcome == history.Fail:
			c.did, c.from = "refused-after-removal", b.asking(o)
		case o.verb == release && o.outcome == history.OK && lines[1] < o.invoke:
			c.did, c.from = "released-nothing", b.asking(o)
		case o.verb == release && o.outcome == history.OK:
			c.did, c.from = "released-with-entry", b.asking(o)
		case o.verb == acquire && len(lines) == 2 && o.invoke == lines[0]:
			c.did, c.from = "granted-without-entry", o.invoke
		}
	}
	return b.about(c, lines)
}

// asking returns where the acquire of o's grant was invoked, or where o was.
func (b *blamer) asking(o *op) int32 {
	if o.hold == none {
		return o.invoke
	}
	return b.ops[b.holds[o.hold].op].invoke
}

// waitedFor returns the cause of a wait that was too long: the entry that was there for
// most of it.
func (b *blamer) waitedFor(lines []int32) cause {
	from, to := lines[0], lines[len(lines)-1]
	c := b.about(cause{did: "no-entry", from: 0, to: to, at: to}, lines)
	waiter := none
	for _, pos := range lines {
		if o := b.opAt[pos]; o != none && b.ops[o].invoke == pos && b.ops[o].verb == acquire {
			waiter, from = o, max(from, pos)
			break
		}
	}
	if waiter == none {
		return c
	}
	var longest *stay
	owner := none
	most := (b.at(to) - b.at(from)) / 2
	for id := range b.ops {
		if b.ops[id].lock != b.ops[waiter].lock {
			continue
		}
		for _, s := range b.staysOf(int32(id)) {
			if there := b.at(min(to, s.to)) - b.at(max(from, s.from)); there > most {
				longest, owner, most = s, int32(id), there
			}
		}
	}
	if longest == nil {
		return c
	}
	o := &b.ops[owner]
	c.did, c.from, c.servers = b.owner(o, to), o.invoke, b.hosts(longest)
	c.others, c.clients = c.clients, []int32{b.procs[o.proc].client}
	return c
}

// owner says whose entry it is that others waited for up to pos: that of acquire o.
func (b *blamer) owner(o *op, pos int32) string {
	over := o.done != none && o.done < pos
	switch {
	case b.died(o):
		return "entry-of-dead-client"
	case o.hold != none && b.holds[o.hold].released < pos:
		return "entry-after-release"
	case o.hold != none && b.holds[o.hold].end < pos:
		return "entry-after-loss"
	case o.hold != none && b.holds[o.hold].begin < pos:
		return "entry-of-holder"
	case over && o.outcome == history.Fail:
		return "entry-of-refused-acquire"
	case over:
		return "entry-of-uncertain-acquire"
	}
	return "entry-of-waiter"
}

// died reports whether the client of an acquire died before it released its grant.
func (b *blamer) died(o *op) bool {
	for _, d := range b.deaths {
		if d.client != b.procs[o.proc].client || d.line < o.invoke {
			continue
		}
		if o.hold == none {
			return o.done == none || o.outcome == history.Info
		}
		return b.holds[o.hold].released > d.from
	}
	return false
}
