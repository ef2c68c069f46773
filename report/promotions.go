package report

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// promote processes a promotion. The new master has the entries of the old one,
// except those that it reports as lost at once. An old master that is not down keeps
// its entries. While it is cut off it does not learn that it was replaced.
func (d *digest) promote(pos int, e *history.Entry) {
	p := promotion{pos: pos, server: e.Process.Name, old: e.Text}
	died := pos
	for _, f := range d.downs[p.old] {
		if f.end == none {
			p.gone, f.replaced, died = true, true, min(died, f.start)
		}
	}
	for _, s := range d.stays {
		if s.server != p.old || s.to != none {
			continue
		}
		if p.gone {
			s.leave(p.old, died, false)
		}
		s.server = p.server
		s.on = append(s.on, stretch{p.server, pos, none, false})
		d.latest[place{s.server, s.key, s.lock}] = s
	}
	d.promotions = append(d.promotions, p)
}

// inherits reports whether the line at pos is one of those with which the master that
// was promoted at from lists its entries: it has served no client since, and no fault
// has struck it.
func (d *digest) inherits(from, pos int) bool {
	server := d.h.Entries[from].Process.Name
	for i := from; i <= pos; i++ {
		e := &d.h.Entries[i]
		struck := e.Process.Name == history.Nemesis && slices.Contains(e.On, server) && !strings.HasSuffix(e.F, history.EndSuffix)
		if struck && i > from || e.Process.Name == server && e.By.Set {
			return false
		}
	}
	return true
}

// replaced reports whether another server has replaced this one as the master.
func (d *digest) replaced(server string) bool {
	for i := len(d.promotions) - 1; i >= 0; i-- {
		switch server {
		case d.promotions[i].server:
			return false
		case d.promotions[i].old:
			return true
		}
	}
	return false
}

// reunite notes that servers reach the others again: a server that was replaced
// meanwhile gives up its entries.
func (d *digest) reunite(f *fault) {
	if f.Name != cutOff {
		return
	}
	for _, name := range f.on {
		if !d.replaced(name) {
			continue
		}
		for _, s := range d.stays {
			s.leave(name, f.end, true)
		}
	}
}

// serves reports whether name is a server: one with lines of its own, or, if no
// server has lines, any name that is not a client.
func (d *digest) serves(name string) bool {
	if len(d.stays)+len(d.promotions) == 0 {
		return !d.clients[name] && name != history.Resource
	}
	if d.h.Header.Nodes > 0 && !d.clients[name] && name != history.Resource {
		return true // a node may have answered no request
	}
	return d.servers[name]
}

// survived reports whether the server that x replaced was only cut off from others.
func (d *digest) survived(x *promotion) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		return !x.gone && f.Name == cutOff && f.strikes(x.old) && f.start < x.pos && !before(f.end, x.pos)
	})
}

// evicts reports whether a server's memory was full at a position.
func (d *digest) evicts(server string, pos int) bool {
	return slices.ContainsFunc(d.faults, func(f *fault) bool {
		return f.Name == "evict" && f.strikes(server) && f.start <= pos && !before(f.end, pos)
	})
}

// comesBack reports whether s ended because its server had been down: the server is back
// and has served no client since.
func (d *digest) comesBack(s *stay) bool {
	return slices.ContainsFunc(d.downs[s.server], func(f *fault) bool {
		return f.end != none && f.heals <= s.to && !slices.ContainsFunc(d.h.Entries[f.heals:s.to], func(e history.Entry) bool {
			return e.Process.Name == s.server && e.By.Set
		})
	})
}

// resigned reports whether s ended because its server dropped its entries when it
// became a replica; to is the new master.
func (d *digest) resigned(s *stay) (to string, yes bool) {
	for _, x := range d.promotions {
		if x.pos > s.to {
			break
		}
		switch s.server {
		case x.old:
			to, yes = x.server, true
		case x.server:
			to, yes = "", false
		}
	}
	return to, yes && s.how == history.Lose
}
