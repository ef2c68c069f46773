package report

import "time"

// client draws one client: its waits and holds, the numbers of its moments, its
// requests that travelled long, and the faults that struck it.
func (d *drawing) client(name string) {
	r := newRow()
	d.name(r, laneName, name, plain)
	data := d.plot.d
	for _, o := range data.all {
		if o.client == name && o.asks() {
			d.fill(r, data.at(o.invoke), data.at(o.over()), '·', dim)
		}
	}
	for _, g := range data.grants {
		if g.client == name {
			d.hold(r, g)
		}
	}
	for _, f := range data.faults {
		if t := data.at(f.start); f.Ends && f.strikes(name) && t <= d.axis.to {
			if c := d.axis.col(t); t >= d.axis.from || r[c].r == ' ' {
				r.fill(c, c, '×', bad)
			}
		}
	}
	d.finish(r, "·█▒×+")
	d.numbers(name)
	for _, o := range d.plot.rides {
		if o.client == name {
			d.ride(o)
		}
	}
	d.faults(name)
}

// ride draws a request from its invoke to its effect.
func (d *drawing) ride(o *op) {
	r := newRow()
	d.name(r, sideName, o.f, plain)
	from, to := d.plot.d.at(o.invoke), d.plot.d.at(o.effect)
	d.bracket(r, from, to, warn)
	if to <= d.axis.to {
		r.fill(d.axis.col(to), d.axis.col(to), '»', warn)
	}
	d.finish(r, "»")
}

func (d *drawing) fill(r row, from, to time.Duration, c rune, s style) {
	if d.axis.covers(from, to) {
		r.fill(d.axis.col(from), d.axis.col(to), c, s)
	}
}

// hold draws a grant: the time in which the lease ran, as far as its client knew
// then, and the time after that.
func (d *drawing) hold(r row, g *grant) {
	data := d.plot.d
	if before(g.end, g.got) {
		return // the client had died before its ok was written
	}
	from, to := data.at(g.got), data.at(g.end)
	if len(g.deadlines) == 0 {
		d.fill(r, from, to, '█', good)
		return
	}
	d.fill(r, from, to, '▒', bad)
	for i, known := range g.deadlines {
		next := to
		if i+1 < len(g.deadlines) {
			next = data.at(g.deadlines[i+1].pos)
		}
		if known.until > from {
			d.fill(r, from, min(known.until, next), '█', good)
		}
		from = next
	}
	for _, pos := range g.renewals {
		d.fill(r, data.at(pos), data.at(pos), '+', good)
	}
}
