package report

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// overwritten is the write that v destroyed: one that came after v's client
// had read the value from which it computed v's. nil: there is none.
func (d *digest) overwritten(v *visit) *visit {
	var read, lost *visit
	for _, o := range d.visits {
		if o.pos >= v.pos {
			break
		}
		switch {
		case o.grant == v.grant && o.f == history.Read:
			read, lost = o, nil
		case o.f == history.Write && o.grant == v.grant:
			lost = nil
		case o.f == history.Write:
			lost = o
		}
	}
	if read == nil || v.grant == nil {
		return nil
	}
	return lost
}

// overwriting tells that a write destroyed another.
func (p *plot) overwriting(v *visit) {
	lost := p.d.overwritten(v)
	p.writing(lost)
	p.with(v.client)
	p.ride(v.op)
	whose := possessive(lost.client)
	if lost.client == v.client {
		whose = "its own"
	}
	now, old := value(v.value), whose+" "+value(v.was)
	m := moment{
		pos: v.pos, lane: history.Resource, actor: v.client, who: v.client,
		did: fmt.Sprintf("wrote %s over %s, which it had not read: %s update was lost",
			now, old, possessive(lost.client)),
		line: fmt.Sprintf("%s writes %s over %s: that update is lost", v.client, now, old),
	}
	if v.astray() {
		m.actor, m.who = "", possessive(v.client)+" write"
		m.did = fmt.Sprintf("arrived and put %s over %s, which %s had not read: %s update was lost",
			now, old, v.client, possessive(lost.client))
		m.line = fmt.Sprintf("%s write arrives: %s over %s, which is lost", possessive(v.client), now, old)
	}
	p.add(m)
}

// astray tells whether an access was still travelling when its client had
// stopped waiting for it.
func (v *visit) astray() bool { return v.op != nil && before(v.op.done, v.pos) }

// writing shows a write that destroyed nothing.
func (p *plot) writing(v *visit) {
	p.with(v.client)
	p.add(moment{
		pos: v.pos, lane: history.Resource, weight: detail,
		line: fmt.Sprintf("%s writes %s", v.client, value(v.value)),
	})
}

// say gives a moment of the list a sentence.
func (p *plot) say(pos int, who, did string) {
	for i := range p.moments {
		if m := &p.moments[i]; m.pos == pos && m.did == "" {
			m.who, m.actor, m.did, m.weight = who, who, did, side
		}
	}
}

// reading shows the read from which a write was computed.
func (p *plot) reading(v *visit) {
	var read *visit
	for _, o := range p.d.visits {
		if o.pos < v.pos && o.grant == v.grant && o.f == history.Read {
			read = o
		}
	}
	if read != nil {
		p.add(moment{
			pos: read.pos, lane: history.Resource, weight: detail,
			line: fmt.Sprintf("%s reads %s", v.client, value(read.value)),
		})
	}
}

// sending tells when an access left that arrived after its client had given it
// up.
func (p *plot) sending(v *visit) {
	if !v.astray() {
		return
	}
	what := fmt.Sprintf("its %s of %s", v.op.f, value(v.value))
	p.ride(v.op)
	p.add(moment{
		pos: v.op.invoke, lane: v.client, actor: v.client, who: v.client,
		did: "began " + what, line: v.client + " begins " + what,
	})
	if v.op.outcome == history.Info {
		p.add(moment{
			pos: v.op.done, lane: v.client, actor: v.client, who: v.client, weight: side,
			did:  "stopped waiting for an answer to its " + v.op.f,
			line: v.client + " stops waiting for an answer",
		})
	}
}

// refusal tells that the resource turned an access away.
func (p *plot) refusal(v *visit) {
	what := history.Read
	if v.op != nil {
		what = v.op.f
	} else if v.value.Set {
		what = history.Write
	}
	var highest uint64
	for _, o := range p.d.visits {
		if o.pos < v.pos && o.f != history.Refuse {
			highest = max(highest, o.token)
		}
	}
	seen, short := "", ""
	if highest > v.token {
		seen = fmt.Sprintf(": token %d had been seen, and this one came with %d", highest, v.token)
		short = fmt.Sprintf(": token %d, after %d", v.token, highest)
	}
	p.with(v.client)
	p.add(moment{
		pos: v.pos, lane: history.Resource, actor: v.client, who: "the resource",
		did:  fmt.Sprintf("refused %s %s%s", possessive(v.client), what, seen),
		line: fmt.Sprintf("the resource refuses %s %s%s", possessive(v.client), what, short),
	})
}

func value(o history.Opt) string {
	if !o.Set {
		return "a value"
	}
	return number(o.V)
}

func possessive(name string) string { return name + "'s" }
