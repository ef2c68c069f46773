package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

func (d *digest) fromServer(pos int, e *history.Entry) {
	by, made := d.opAt(e.By), d.opAt(e.Op)
	if by != nil {
		by.effect = pos
	}
	if made == nil && d.byID[e.Grant] != nil {
		made = d.byID[e.Grant].op
	}
	made = made.asked()
	switch e.F {
	case history.Granted:
		if made == nil {
			made = by.asked()
		}
		made.serve(pos)
		d.put(made, pos, e)
	case history.Takeover:
		by.serve(pos)
		d.leave(made, by, pos, e)
		if taker := by.asked(); taker != nil || !e.By.Set {
			d.put(taker, pos, e)
		}
	case history.Remove, history.Expire, history.Lose:
		d.leave(made, by, pos, e)
	case history.Prolong:
		by.serve(pos)
		if made != nil {
			if s := made.entry(e, true); s != nil {
				s.since, s.nearer = pos, none
				if by != nil && by.client != s.client() {
					s.foreign = append(s.foreign, foreign{pos, by})
				}
			}
		}
	case history.Change:
		if made != nil {
			if s := made.entry(e, true); s != nil {
				s.changed = append(s.changed, pos)
			}
		}
	case history.Shorten:
		if made != nil && e.By.Set { // a server may also have lost a renewal
			if s := made.entry(e, true); s != nil {
				s.nearer = pos
			}
		}
	case history.Promote:
		d.promote(pos, e)
	}
}

// asked returns the acquire for whose grant o makes entries: o itself, or the one
// that it extends, or nil.
func (o *op) asked() *op {
	switch {
	case o == nil || o.asks():
		return o
	case o.f == history.Extend && o.grant != nil:
		return o.grant.op
	}
	return nil
}

// serve notes that a server granted o, which may be nil.
func (o *op) serve(pos int) {
	if o != nil && o.served == none {
		o.served = pos
	}
}

// unserved reports whether the servers were observed and none of them had granted g, as
// package checker sees it: neither its acquire nor the one on whose entries it stands.
func (d *digest) unserved(g *grant) bool {
	if g.confirmed || g.nest != g || !slices.Contains(d.h.Header.Observes, string(checker.Answers)) {
		return false
	}
	stands := d.opAt(d.h.Entries[g.got].Op)
	return !before(g.op.served, g.got) && (stands == nil || stands.client != g.client || !before(stands.served, g.got))
}

// passing reports whether every entry of the acquire o went at the instant at which it
// came, as in one transaction: nobody else saw it.
func (d *digest) passing(o *op) bool {
	return len(o.stays) > 0 && !slices.ContainsFunc(o.stays, func(s *stay) bool { return s.to == none || d.at(s.to) != d.at(s.from) })
}

// put adds an entry, unless it is there already: a request that recognises its
// own entry grants it again.
func (d *digest) put(made *op, pos int, e *history.Entry) {
	if made != nil && made.entry(e, true) != nil {
		return
	}
	name := e.Process.Name
	s := &stay{home: name, server: name, key: e.Key, op: made, from: pos, since: pos, nearer: none, to: none, on: []stretch{{name, pos, none, false}}}
	s.operator = made == nil && d.fromOutside(pos)
	if made != nil {
		s.lock = made.lock
		s.back = !e.By.Set && slices.ContainsFunc(made.stays, func(o *stay) bool { return o.key == s.key && o.to != none })
		made.stays = append(made.stays, s)
	} else {
		s.lock = d.lockAt(pos)
	}
	d.latest[place{s.server, s.key, s.lock}] = s
	d.stays = append(d.stays, s)
}

// leave ends an entry: the one of the acquire made, or the last one of its place. A
// server that was replaced reports only its own copies.
func (d *digest) leave(made, by *op, pos int, e *history.Entry) {
	name := e.Process.Name
	var s *stay
	if made != nil {
		if s = made.entry(e, true); s == nil && d.replaced(name) {
			for _, s := range made.stays {
				s.leave(name, pos, false)
			}
		} else if s == nil {
			s = made.entry(e, false) // the line is about an entry that another server made
		}
	} else {
		s = d.latest[place{name, e.Key, d.lockAt(pos)}]
	}
	if s == nil || s.to != none {
		return
	}
	s.to, s.how, s.by = pos, e.F, by
	if n := len(s.on) - 1; n > 0 && by == nil && s.on[n].server == name && d.inherits(s.on[n].from, pos) {
		s.missing, s.on = true, s.on[:n]
	}
	s.leave(s.server, pos, false)
}

// entry returns the entry of the acquire o that e is about, or nil if it is not
// there.
func (o *op) entry(e *history.Entry, sameServer bool) *stay {
	for _, s := range slices.Backward(o.stays) {
		if s.to == none && s.key == e.Key && (!sameServer || s.server == e.Process.Name) {
			return s
		}
	}
	return nil
}

// last returns the last entry that the acquire o made, or nil if no line shows one.
func (o *op) last() *stay {
	if len(o.stays) == 0 {
		return nil
	}
	return o.stays[len(o.stays)-1]
}

// restsOn returns the entries that made g's acquire ok. It leaves out entries that
// the acquire made before it removed some and began anew, entries that an earlier round
// left behind, entries that were gone before it made others, and entries that came later.
func (g *grant) restsOn() []*stay {
	var list []*stay
	anew := none
	for _, s := range g.op.stays {
		if s.own() && before(s.to, g.got) {
			anew = max(anew, s.to)
		}
	}
	for _, s := range g.op.stays {
		if s.from > g.got || s.from <= anew || s.outworn {
			continue
		}
		list = slices.DeleteFunc(list, func(earlier *stay) bool { return before(earlier.to, s.from) })
		list = append(list, s)
	}
	return list
}

// borrows returns another client's entry that g's acquire prolonged, and where, or nil: the
// server took the request for one of the entry's owner.
func (d *digest) borrows(g *grant) (*stay, foreign) {
	for _, s := range d.stays {
		for _, f := range s.foreign {
			if f.by == g.op && f.pos < g.got {
				return s, f
			}
		}
	}
	return nil, foreign{}
}

// wearOut marks the entries that an earlier round of a grant's acquire left behind: they
// were there before the grant's lease began, its release did not remove them, and
// those made since are a majority.
func (d *digest) wearOut() {
	if d.h.Header.Nodes < 2 {
		return
	}
	for _, g := range d.grants {
		began := g.until(g.got) - d.h.Header.Lease()
		var old []*stay
		since := 0
		for _, s := range g.restsOn() {
			switch {
			case d.at(s.from) >= began:
				since++
			case g.release != nil && s.by != g.release:
				old = append(old, s)
			}
		}
		if since > d.h.Header.Nodes/2 {
			for _, s := range old {
				s.outworn = true
			}
		}
	}
}

// deciding returns the entry of an acquire, in their order, that completes the
// majority. Without a majority it returns the last entry.
func (d *digest) deciding(all []*stay) *stay {
	nodes := cmp.Or(d.h.Header.Nodes, len(homes(d.stays)))
	return all[min(nodes/2, len(all)-1)]
}

// inVain returns the entries that g's acquire lost before it made those that g rests
// on.
func (g *grant) inVain() []*stay {
	rests := g.restsOn()
	return slices.DeleteFunc(slices.Clone(g.op.stays), func(s *stay) bool {
		return s.own() || !before(s.to, g.got) || slices.Contains(rests, s)
	})
}

// lastEntry returns the entry of g that ended last or did not end, or nil if no line
// shows one.
func (g *grant) lastEntry() *stay {
	var last *stay
	for _, s := range g.op.stays {
		if !s.back && (last == nil || before(last.to, s.to)) {
			last = s
		}
	}
	return last
}

// homes are the servers that made entries, each once, in the order of their names.
func homes(stays []*stay) []string {
	return names(stays, func(s *stay) string { return s.home })
}

// names returns what name gives for some entries, each once, sorted.
func names(stays []*stay, name func(*stay) string) (list []string) {
	for _, s := range stays {
		list = append(list, name(s))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// queues reports whether the entries of a lock are places in a queue: one server has
// several of them, by different keys; or nodes of an ensemble, by path.
func (d *digest) queues() bool {
	keys := map[string]string{} // by server
	for _, s := range d.stays {
		if strings.HasPrefix(s.key, "/") { // a path
			return true
		}
		if key, ok := keys[s.home]; ok && key != s.key {
			return true
		}
		keys[s.home] = s.key
	}
	return false
}
