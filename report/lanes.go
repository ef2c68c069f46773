package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// The layout of the lanes.
const (
	laneName   = 2  // column of a lane's name
	sideName   = 4  // of the name of a row that belongs to a lane
	laneLeft   = 15 // first column of the axis
	maxClients = 4
	maxServers = 3
)

// lanes draws what the clients of a story, the servers and the resource did,
// on one time axis.
func (p *page) lanes(s *plot) {
	d := &drawing{page: p, plot: s, used: map[rune]bool{}}
	d.clients = s.clients[:min(len(s.clients), maxClients)]
	d.axis = d.window()
	labels, line := d.row(), d.row()
	d.axis.draw(s.d.units, labels, line)
	p.row(labels)
	p.row(line)
	for _, name := range d.clients {
		d.client(name)
	}
	for _, span := range s.spans {
		r := d.row()
		r.write(laneName, span.label, bad)
		r.write(d.col(span.from), "", plain)
		d.bracket(r, span.from, span.to, bad)
		p.row(r)
	}
	for _, name := range d.servers() {
		d.server(name)
	}
	d.resource()
	d.legend()
	d.absent()
}

// drawing is the lanes while they are drawn.
type drawing struct {
	*page
	plot    *plot
	axis    axis
	clients []string
	used    map[rune]bool // the signs that the legend has to explain
}

func (d *drawing) row() row { return newRow(d.o.width()) }

func (d *drawing) col(t time.Duration) int { return d.axis.col(t) }

// window is the axis: from the first moment to the last, with what the lanes
// point out.
func (d *drawing) window() axis {
	m := d.plot.moments
	from, to := m[0].at, m[0].at
	for i := range m {
		from, to = min(from, m[i].at), max(to, m[i].at)
	}
	for _, s := range d.plot.spans {
		from, to = min(from, s.from), max(to, s.to)
	}
	return newAxis(from, to, laneLeft, d.o.width())
}

func (d *drawing) sign(r rune) rune {
	d.used[r] = true
	for _, c := range d.page.sign(string(r)) {
		return c
	}
	return r
}

// name writes a lane's name, cut to its room.
func (d *drawing) name(r row, at int, name string) {
	n := []rune(d.clean(name))
	if room := laneLeft - 1 - at; len(n) > room {
		n = append(n[:room-1], '~')
	}
	r.write(at, string(n), plain)
}

// client draws one client: what it waited for and held, the numbers of its
// moments, what struck it, and requests of its that travelled long.
func (d *drawing) client(name string) {
	r := d.row()
	d.name(r, laneName, name)
	data := d.plot.d
	for _, o := range data.all {
		if o.client == name && (o.f == history.Acquire || o.f == history.Try) {
			d.fill(r, data.at(o.invoke), data.at(o.done), '·', dim)
		}
	}
	for _, g := range data.grants {
		if g.client == name {
			d.hold(r, g)
		}
	}
	for _, f := range data.faults {
		if f.words().deadly && f.on[0] == name && d.axis.covers(data.at(f.start), data.at(f.start)) {
			c := d.col(data.at(f.start))
			r.fill(c, len(r)-1, ' ', plain)
			r.fill(c, c, d.sign('×'), bad)
		}
	}
	d.page.row(r)
	d.numbers(name)
	for _, o := range d.plot.rides {
		if o.client != name {
			continue
		}
		r := d.row()
		d.name(r, sideName, o.f)
		d.bracket(r, data.at(o.invoke), data.at(o.effect), warn)
		r.fill(d.col(data.at(o.effect)), d.col(data.at(o.effect)), '»', warn)
		d.page.row(r)
	}
	d.faults(name)
}

func (d *drawing) fill(r row, from, to time.Duration, c rune, s style) {
	if d.axis.covers(from, to) {
		r.fill(d.col(from), d.col(to), d.sign(c), s)
	}
}

// hold draws the time of a grant, before and after the end of its lease.
func (d *drawing) hold(r row, g *grant) {
	data := d.plot.d
	from, to := data.at(g.got), data.at(g.end)
	end := g.end
	if end == none {
		end = data.last()
	}
	until := g.until(end)
	if until == 0 || until >= to {
		d.fill(r, from, to, '█', good)
		return
	}
	d.fill(r, max(from, until), to, '▒', bad)
	if until > from {
		d.fill(r, from, until, '█', good)
	}
}

// bracket draws a time as a line with two ends, or as one point.
func (d *drawing) bracket(r row, from, to time.Duration, s style) {
	if !d.axis.covers(from, to) {
		return
	}
	a, b := d.col(from), d.col(to)
	put := func(c int, sign rune) {
		for _, x := range d.page.sign(string(sign)) {
			r.fill(c, c, x, s)
		}
	}
	for c := a; c <= b; c++ {
		put(c, '─')
	}
	put(a, '├')
	put(b, '┤')
	if a == b {
		put(a, '┼')
	}
}

// numbers writes the numbers of the moments of a lane under it. Where two fall
// into one column the later one moves to the next.
func (d *drawing) numbers(lane string) {
	r := d.row()
	any := false
	for i := range d.plot.moments {
		m := &d.plot.moments[i]
		if m.lane != lane {
			continue
		}
		any = true
		c := d.col(m.at)
		for c < len(r)-1 && r[c].r != ' ' {
			c++
		}
		for c > laneLeft && r[c].r != ' ' {
			c--
		}
		r.write(c, fmt.Sprint(i+1), plain)
	}
	if any {
		d.page.row(r)
	}
}

// faults draws what struck a client or a server, a row for each.
func (d *drawing) faults(name string) {
	data := d.plot.d
	for _, f := range data.faults {
		w := f.words()
		from, to := data.at(f.start), data.at(f.end)
		if f.on[0] != name || w.deadly || !f.hit() || !d.axis.covers(from, to) {
			continue
		}
		r := d.row()
		d.name(r, sideName, w.label)
		if !w.once {
			d.bracket(r, from, to, warn)
		} else if d.axis.covers(from, from) {
			text := d.page.sign("┼")
			if f.amount > 0 {
				text += " +" + data.units.span(f.amount)
			} else if f.amount < 0 {
				text += " -" + data.units.span(f.amount)
			}
			r.write(min(d.col(from), len(r)-len([]rune(text))), text, warn)
		}
		d.page.row(r)
	}
}

// servers are those to draw.
func (d *drawing) servers() []string {
	var names []string
	for _, s := range d.plot.d.stays {
		if !slices.Contains(names, s.server) && d.axis.covers(d.plot.d.at(s.from), d.plot.d.at(s.to)) {
			names = append(names, s.server)
		}
	}
	return names[:min(len(names), maxServers)]
}

// server draws whose entry a server had, and when.
func (d *drawing) server(name string) {
	r := d.row()
	d.name(r, laneName, name)
	data := d.plot.d
	var shown []*stay
	for _, s := range data.stays {
		if s.server == name && d.axis.covers(data.at(s.from), data.at(s.to)) {
			shown = append(shown, s)
		}
	}
	for i, s := range shown {
		a, b := d.col(data.at(s.from)), d.col(data.at(s.to))
		if i+1 < len(shown) {
			b = max(a, min(b, d.col(data.at(shown[i+1].from))-1))
		}
		r.fill(a, b, d.sign('━'), plain)
		if owner := d.clean(s.client()); len([]rune(owner)) <= b-a+1 {
			r.write(a, owner, plain)
		}
	}
	d.page.row(r)
	d.numbers(name)
	d.faults(name)
}

// resource draws the accesses that reached it, of those in the picture.
func (d *drawing) resource() {
	r := d.row()
	d.name(r, laneName, history.Resource)
	data := d.plot.d
	any := false
	for _, v := range data.visits {
		t := data.at(v.pos)
		if !d.axis.covers(t, t) || !slices.Contains(d.clients, v.client) {
			continue
		}
		any = true
		sign, s := 'R', dim
		switch v.f {
		case history.Write:
			sign, s = 'W', plain
		case history.Refuse:
			sign, s = '!', bad
		}
		c := d.col(t)
		if now := r[c].r; now == ' ' || now == 'R' || sign == '!' {
			r.fill(c, c, d.sign(sign), s)
		}
	}
	if any {
		d.page.row(r)
		d.numbers(history.Resource)
	}
}

// legend explains the signs that were used.
func (d *drawing) legend() {
	var parts []string
	for _, l := range []struct {
		sign rune
		says string
	}{
		{'·', "waits"},
		{'█', "holds"},
		{'▒', "believes that it holds, its lease is over"},
		{'×', "dies"},
		{'━', "whose entry the server has"},
		{'R', "read"},
		{'W', "write"},
		{'!', "refused"},
	} {
		if d.used[l.sign] {
			parts = append(parts, string(l.sign)+" "+l.says)
		}
	}
	if len(parts) > 0 {
		d.blank()
		d.text(2, dim, strings.Join(parts, "   "))
	}
}

// absent says who is not in the picture.
func (d *drawing) absent() {
	var others []string
	for _, o := range d.plot.d.all {
		if !slices.Contains(d.clients, o.client) && !slices.Contains(others, o.client) {
			others = append(others, o.client)
		}
	}
	switch n := len(others); n {
	case 0:
	case 1:
		d.text(2, dim, "Not shown: "+others[0]+", which does not matter here.")
	default:
		d.text(2, dim, fmt.Sprintf("Not shown: %d other clients, which do not matter here.", n))
	}
}

// moments lists what happened, by the numbers in the lanes.
func (p *page) moments(s *plot) {
	width := 0
	for i := range s.moments {
		width = max(width, len(s.d.units.exact(s.moments[i].at)))
	}
	for i := range s.moments {
		m := &s.moments[i]
		head := fmt.Sprintf("%d  %*s  ", i+1, width, s.d.units.exact(m.at))
		indent := laneName + len(head)
		for j, line := range wrap(p.clean(m.line), p.o.width()-indent) {
			r := newRow(p.o.width())
			if j == 0 {
				r.write(laneName, head, plain)
			}
			r.write(indent, line, plain)
			p.row(r)
		}
	}
}
