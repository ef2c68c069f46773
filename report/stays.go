package report

import (
	"cmp"
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// stay is the time that one entry was in a store: in that of one server, and of
// those that took its place as the master.
type stay struct {
	home     string // the server that made it
	server   string // that has it now, or had it last
	key      string
	lock     string
	op       *op // the acquire that made it; nil: unknown
	from, to int // none: it was there to the end
	since    int // from when on it was to last for a lease: it was made or prolonged there
	how      string
	by       *op  // whose request ended it; nil: nobody's
	back     bool // it came back: a server lost its removal
	missing  bool // a new master did not have it
	on       []stretch
}

// stretch is the time that a server had an entry.
type stretch struct {
	server   string
	from, to int  // none: to the end
	may      bool // to is only when it could have learned that it had to give it up
}

// place is where an entry is whose maker is not known.
type place struct{ server, key, lock string }

// client is whose entry it was; "": unknown.
func (s *stay) client() string {
	if s.op == nil {
		return ""
	}
	return s.op.client
}

// owner is client as the possessor of something: "c1's".
func (s *stay) owner() string {
	if s.op == nil {
		return "somebody's"
	}
	return possessive(s.op.client)
}

// grant is what its owner learned of it; nil: nothing.
func (s *stay) grant() *grant {
	if s.op == nil {
		return nil
	}
	return s.op.grant
}

// own tells whether its owner took it away itself.
func (s *stay) own() bool {
	return s.by != nil && (s.by == s.op || s.by.grant != nil && s.by.grant == s.grant())
}

// leave ends the stretch of a server that is open.
func (s *stay) leave(server string, pos int) {
	for i := range s.on {
		if x := &s.on[i]; x.server == server && (x.to == none || x.may) {
			x.to, x.may = pos, false
		}
	}
}

// resign ends it where no line of the server does so later.
func (s *stay) resign(server string, pos int) {
	for i := range s.on {
		if x := &s.on[i]; x.server == server && x.to == none {
			x.to, x.may = pos, true
		}
	}
}

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
		d.put(made, pos, e)
	case history.Takeover:
		d.leave(made, by, pos, e)
		if taker := by.asked(); taker != nil {
			d.put(taker, pos, e)
		}
	case history.Remove, history.Expire, history.Lose:
		d.leave(made, by, pos, e)
	case history.Prolong:
		if made != nil {
			if s := made.entry(e, true); s != nil {
				s.since = pos
			}
		}
	case history.Promote:
		d.promote(pos, e)
	}
}

// asked is the acquire whose grant o makes entries for: o itself, or the one
// that it extends; nil: it makes none.
func (o *op) asked() *op {
	switch {
	case o == nil || o.asks():
		return o
	case o.f == history.Extend && o.grant != nil:
		return o.grant.op
	}
	return nil
}

// put adds an entry, unless it is there already: a request that recognises its
// own entry grants it again.
func (d *digest) put(made *op, pos int, e *history.Entry) {
	if made != nil && made.entry(e, true) != nil {
		return
	}
	name := e.Process.Name
	s := &stay{home: name, server: name, key: e.Key, op: made, from: pos, since: pos, to: none, on: []stretch{{name, pos, none, false}}}
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

// leave ends an entry: that of the acquire made, or the last one of its place.
// A server that had to give way to another speaks of its own copies only.
func (d *digest) leave(made, by *op, pos int, e *history.Entry) {
	name := e.Process.Name
	var s *stay
	if made != nil {
		if s = made.entry(e, true); s == nil && d.replaced(name) {
			for _, s := range made.stays {
				s.leave(name, pos)
			}
		} else if s == nil {
			s = made.entry(e, false) // a server speaks of what another one made
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
	s.leave(s.server, pos)
}

// entry is the one of the acquire o that e is about; nil: it is not there.
func (o *op) entry(e *history.Entry, sameServer bool) *stay {
	for _, s := range slices.Backward(o.stays) {
		if s.to == none && s.key == e.Key && (!sameServer || s.server == e.Process.Name) {
			return s
		}
	}
	return nil
}

// stayOf is the entry that the acquire o made, the last one; nil: none was seen.
func (d *digest) stayOf(o *op) *stay {
	if len(o.stays) == 0 {
		return nil
	}
	return o.stays[len(o.stays)-1]
}

// restsOn are the entries that g's client was told of by its acquire's ok: not
// those that the acquire made before it took some away again, as it then began anew,
// nor those that were gone before it made others, nor those that came later.
func (g *grant) restsOn() []*stay {
	var list []*stay
	anew := none
	for _, s := range g.op.stays {
		if s.own() && before(s.to, g.got) {
			anew = max(anew, s.to)
		}
	}
	for _, s := range g.op.stays {
		if s.from > g.got || s.from <= anew {
			continue
		}
		list = slices.DeleteFunc(list, func(earlier *stay) bool { return before(earlier.to, s.from) })
		list = append(list, s)
	}
	return list
}

// deciding is the one of the entries of an acquire, in their order, that makes the
// majority, or the last one where they are none.
func (d *digest) deciding(all []*stay) *stay {
	nodes := cmp.Or(d.h.Header.Nodes, len(homes(d.stays)))
	return all[min(nodes/2, len(all)-1)]
}

// inVain are the entries that went from under g's acquire before it made those
// that g rests on.
func (g *grant) inVain() []*stay {
	rests := g.restsOn()
	return slices.DeleteFunc(slices.Clone(g.op.stays), func(s *stay) bool {
		return s.own() || !before(s.to, g.got) || slices.Contains(rests, s)
	})
}

// lastEntry is the entry of g that went last, or did not go; nil: none was seen.
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
	var names []string
	for _, s := range stays {
		names = append(names, s.home)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
