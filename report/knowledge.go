package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// steps returns what everybody knew after each moment, and at its time in another run,
// unless that is nil.
func (p *plot) steps(pic *picture, other *plot) (list []step) {
	d := &draw{plot: p, pic: pic}
	for i := range p.moments {
		m := &p.moments[i]
		s := step{N: i + 1, At: p.d.units.exact(m.at), Line: shown(m.line), X: d.x(m.at), States: p.states(m)}
		if other != nil {
			s.Beside = other.states(other.d.after(m.at))
		}
		list = append(list, s)
	}
	return list
}

// after returns a moment after the last entry until a time.
func (d *digest) after(t time.Duration) *moment {
	i, _ := slices.BinarySearchFunc(d.h.Entries, t, func(e history.Entry, t time.Duration) int {
		if e.Time <= t {
			return -1
		}
		return 1
	})
	return &moment{pos: i - 1, at: t}
}

// states returns what everybody knew after a moment.
func (p *plot) states(m *moment) (list []state) {
	for _, c := range p.allClients() {
		what, tone := p.believes(c, m)
		list = append(list, state{name(c), what, tone})
	}
	for _, x := range p.allServers() {
		if what, tone := p.keeps(x, m); what != "" {
			list = append(list, state{name(x), what, tone})
		}
	}
	if what := p.value(m); what != "" {
		list = append(list, state{history.Resource, what, ""})
	}
	return list
}

// theLock returns words for the lock, which has its name if the history has several.
func (p *plot) theLock() string {
	if len(p.d.locks) < 2 {
		return "the lock"
	}
	return "the lock " + strconv.Quote(name(p.d.lock))
}

// ofLock returns the name of the lock of an entry or a value, if the history has several.
func (p *plot) ofLock() string {
	if len(p.d.locks) < 2 {
		return ""
	}
	return " of " + strconv.Quote(name(p.d.lock))
}

// believes returns what a client does, or believes of the lock, after a moment.
func (p *plot) believes(who string, m *moment) (what, tone string) {
	prefix := ""
	for _, f := range p.d.faults {
		switch {
		case !f.strikes(who) || f.link() || !f.hit() || m.pos < f.start:
		case f.Ends:
			if back := p.back(who, f); !before(back, m.pos+1) {
				return "dead", "bad"
			}
		case f.Stops && before(m.pos, f.end):
			prefix, tone = "stopped: ", "warn"
		}
	}
	for i := len(p.d.grants) - 1; i >= 0; i-- {
		g := p.d.grants[i]
		if g.client != who || !g.holds(m.pos) {
			continue
		}
		with := ""
		if g.token != 0 {
			with = " with token " + strconv.FormatUint(g.token, 10)
		}
		switch until := g.until(m.pos); {
		case until == 0:
			return prefix + "believes that it holds " + p.theLock() + with, "good"
		case until <= m.at:
			return prefix + "has not released " + p.theLock() + with + "; its lease ended " + p.d.units.span(m.at-until) + " ago", "bad"
		default:
			return prefix + "believes that it holds " + p.theLock() + with + ", until " + p.d.units.exact(until), "good"
		}
	}
	var latest *op
	for i := len(p.d.all) - 1; i >= 0; i-- {
		o := p.d.all[i]
		if o.client != who || o.invoke > m.pos {
			continue
		}
		if o.asks() && before(m.pos, o.over()) {
			return prefix + "waits for " + p.theLock() + " since " + p.d.units.exact(p.d.at(o.invoke)), tone
		}
		if latest == nil {
			latest = o
		}
	}
	if o := latest; o != nil {
		switch open := before(m.pos, o.over()); {
		case open && o.f == history.Release:
			return prefix + "releases " + p.theLock(), tone
		case open:
			return prefix + o.f + " under way", tone
		case o.outcome == history.Info:
			return prefix + "does not know how its " + o.f + " ended", "warn"
		}
	}
	if prefix != "" {
		return strings.TrimSuffix(prefix, ": "), tone
	}
	return "does not hold " + p.theLock(), "dim"
}

// keeps returns which entries a server has after a moment.
func (p *plot) keeps(server string, m *moment) (what, tone string) {
	var list []string
	for _, s := range p.d.stays {
		for _, x := range s.on {
			if x.server == server && x.from <= m.pos && before(m.pos, x.to) {
				entry := " entry"
				if p.d.queue {
					entry = " node"
				}
				list = append(list, shown(s.owner()+entry+p.ofLock()))
			}
		}
	}
	var states []string
	for _, f := range p.d.faults {
		if f.strikes(server) && !f.link() && !f.Once && f.hit() && f.start <= m.pos && before(m.pos, f.end) {
			states, tone = append(states, shown(f.Words.Lane)), "warn"
		}
	}
	role := ""
	for _, x := range p.d.promotions {
		if x.server == server && x.pos <= m.pos {
			role = "became the master"
		} else if x.old == server && x.pos <= m.pos {
			role = "was replaced as the master"
		}
	}
	if role != "" {
		states = append(states, role)
	}
	what = "no entry" + p.ofLock()
	switch n := len(list); {
	case n > 4:
		what = strings.Join(list[:4], ", ") + ", and " + strconv.Itoa(n-4) + " more"
	case n > 0:
		what = strings.Join(list, ", ")
	case len(p.d.stays) == 0: // nobody observed entries
		what = ""
	}
	if len(states) > 0 {
		what = strings.TrimSpace(what + " (" + strings.Join(states, "; ") + ")")
	}
	return what, tone
}

// value returns the last write that the resource accepted by a moment.
func (p *plot) value(m *moment) string {
	if p.d.told { // by clients, so their order is unknown
		return ""
	}
	for i := len(p.d.visits) - 1; i >= 0; i-- {
		if v := p.d.visits[i]; v.pos <= m.pos && v.f == history.Write && v.value.Set {
			return "has " + strconv.FormatInt(v.value.V, 10) + p.ofLock() + ", written by " + name(somebody(v.client))
		}
	}
	return ""
}

// somebody returns a client's name, or a word for an unknown one.
func somebody(client string) string {
	if client == "" {
		return "somebody"
	}
	return client
}
