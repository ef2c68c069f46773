package report

import (
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// lanes draws the acts of a story's clients, of the servers and of the resource on
// one time axis.
func (p *page) lanes(s *plot) {
	d := p.draw(s, newAxis(reach(s)), nil)
	p.legend(d)
	d.absent()
}

// draw draws the lanes of a story on a time axis, with a line at the time of now, unless
// it is nil.
func (p *page) draw(s *plot, a axis, now *moment) *drawing {
	d := &drawing{page: p, plot: s, axis: a, used: map[rune]bool{}, numbered: map[string]bool{}}
	d.clients = s.shown()
	labels, line := newRow(), newRow()
	d.axis.draw(s.d.units, labels, line)
	p.row(labels)
	if now != nil {
		p.cursor = a.col(now.at)
		defer func() { p.cursor = 0 }()
		line.fill(p.cursor, p.cursor, '▼', warn)
	}
	p.row(line)
	for _, name := range d.clients {
		d.client(name)
	}
	d.spans()
	var servers []string
	servers, d.out = d.servers()
	for _, name := range servers {
		d.server(name)
		d.numbers(name)
		d.faults(name)
	}
	d.resource()
	d.elsewhere()
	return d
}

// shown returns the clients that have lanes: those that the headline names, those that
// are granted the lock in the story, and the first of the others.
func (p *plot) shown() []string {
	list := slices.Clone(p.clients)
	for _, dispensable := range []func(client string) bool{
		func(client string) bool {
			return !slices.ContainsFunc(p.moments, func(m moment) bool { return m.gets && m.actor == client })
		},
		func(string) bool { return true },
	} {
		for i := len(list) - 1; i >= 0 && len(list) > maxClients; i-- {
			if !strings.Contains(p.title, list[i]) && dispensable(list[i]) {
				list = slices.Delete(list, i, i+1)
			}
		}
	}
	return list[:min(len(list), maxClients)]
}

// maxOverlaps is the largest number of rows for overlaps that the story is not about.
const maxOverlaps = 2

// spans draws the times that the story points out, and other overlaps of holds: a row for
// each pair of clients.
func (d *drawing) spans() {
	all := slices.Clone(d.plot.spans)
	for _, s := range d.plot.more {
		if d.axis.covers(s.from, s.to) {
			all = append(all, s)
		}
	}
	var labels []string
	for i, s := range all {
		label := s.label
		if names := s.names(); len(all) > 1 && names != "" {
			label = names
		}
		if slices.Contains(labels, label) || len(labels) >= len(d.plot.spans)+maxOverlaps {
			continue
		}
		labels = append(labels, label)
		r := newRow()
		d.name(r, laneName, label, bad)
		for _, o := range all[i:] {
			if o == s || o.names() != "" && o.names() == s.names() {
				d.bracket(r, o.from, o.to, bad)
			}
		}
		d.page.row(r)
	}
}

// resource draws the accesses that reached the resource within the picture. If
// several share a column, a refusal has priority over a write, and a write over a
// read.
func (d *drawing) resource() {
	r := newRow()
	d.name(r, laneName, history.Resource, plain)
	data := d.plot.d
	any := false
	for _, v := range data.visits {
		t := data.at(v.pos)
		if !d.axis.covers(t, t) || !slices.Contains(d.clients, v.client) {
			continue
		}
		any = true
		c := d.axis.col(t)
		switch {
		case v.f == history.Refuse:
			r.fill(c, c, '!', bad)
		case v.f == history.Write && r[c].r != '!':
			r.fill(c, c, 'W', plain)
		case r[c].r == ' ':
			r.fill(c, c, 'R', dim)
		}
	}
	if any {
		d.finish(r, "RW!")
		d.numbers(history.Resource)
	}
}
