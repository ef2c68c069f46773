package report

import (
	"slices"

	"github.com/lockcheck/lockcheck/history"
)

// stay is the time that one entry was in a server's store.
type stay struct {
	server   string
	key      string
	lock     string
	op       *op // the acquire that made it; nil: unknown
	from, to int // none: it was there to the end
	how      string
	by       *op // whose request ended it; nil: nobody's
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

func (d *digest) fromServer(pos int, e *history.Entry) {
	by, made := d.opAt(e.By), d.opAt(e.Op)
	if by != nil {
		by.effect = pos
	}
	if made == nil && d.byID[e.Grant] != nil {
		made = d.byID[e.Grant].op
	}
	switch e.F {
	case history.Granted:
		if made == nil {
			made = by
		}
		d.put(made, pos, e)
	case history.Takeover:
		d.leave(made, by, pos, e)
		if by != nil && by != made && by.asks() {
			d.put(by, pos, e)
		}
	case history.Remove, history.Expire, history.Lose:
		d.leave(made, by, pos, e)
	}
}

// put adds an entry, unless it is there already: a request that recognises its
// own entry grants it again.
func (d *digest) put(made *op, pos int, e *history.Entry) {
	if made != nil && !made.asks() {
		made = nil
	}
	if made != nil && made.entry(e, true) != nil {
		return
	}
	s := &stay{server: e.Process.Name, key: e.Key, op: made, from: pos, to: none}
	if made != nil {
		s.lock = made.lock
		made.stays = append(made.stays, s)
	} else {
		s.lock = d.lockAt(pos)
	}
	d.latest[place{s.server, s.key, s.lock}] = s
	d.stays = append(d.stays, s)
}

// leave ends an entry: that of the acquire made, or the last one of its place.
func (d *digest) leave(made, by *op, pos int, e *history.Entry) {
	var s *stay
	if made != nil {
		if s = made.entry(e, true); s == nil {
			s = made.entry(e, false) // a server speaks of what another one made
		}
	} else {
		s = d.latest[place{e.Process.Name, e.Key, d.lockAt(pos)}]
	}
	if s != nil && s.to == none {
		s.to, s.how, s.by = pos, e.F, by
	}
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

// serves tells whether name is a server.
func (d *digest) serves(name string) bool {
	return slices.ContainsFunc(d.stays, func(s *stay) bool { return s.server == name })
}
