package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// servers returns the servers to draw, and those left out. If many did the same,
// those of a moment or a fault of the story come first.
func (d *drawing) servers() (names, out []string) {
	data := d.plot.d
	matters := map[string]bool{}
	for _, s := range data.stays {
		for _, x := range s.on {
			if d.axis.covers(data.at(x.from), data.at(x.to)) {
				matters[x.server] = false
			}
		}
	}
	for i := range d.plot.moments {
		if name := d.plot.moments[i].lane; name != "" && !slices.Contains(d.plot.clients, name) && data.hosts(name) {
			matters[name] = true
		}
	}
	for _, f := range data.faults {
		for _, name := range f.victims() {
			if _, there := matters[name]; there && d.draws(f) {
				matters[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(matters)) {
		if matters[name] {
			names = append(names, name)
		} else {
			out = append(out, name)
		}
	}
	room := min(len(out), max(0, maxServers-len(names)))
	names, out = append(names, out[:room]...), out[room:]
	slices.Sort(names)
	return names, out
}

// hosts reports whether name is a server: it has entries, became a master, or was
// struck by a server fault.
func (d *digest) hosts(name string) bool {
	return d.serves(name) || slices.ContainsFunc(d.faults, func(f *fault) bool {
		return f.Name == cutOff && f.strikes(name)
	})
}

// server draws the entries of a server, with their owners and times.
func (d *drawing) server(name string) {
	r := newRow()
	d.name(r, laneName, name, plain)
	data := d.plot.d
	if data.queue {
		d.places(r, name)
		return
	}
	type shown struct {
		stretch
		owner string
	}
	var list []shown
	for _, s := range data.stays {
		for _, x := range s.on {
			if x.server == name && d.axis.covers(data.at(x.from), data.at(x.to)) {
				list = append(list, shown{x, s.client()})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b shown) int { return cmp.Compare(a.from, b.from) })
	free := 0 // the first column that no earlier entry uses: each one takes a column
	for i, s := range list {
		a, b := max(free, d.axis.col(data.at(s.from))), d.axis.col(data.at(s.to))
		if a > b {
			continue
		}
		if i+1 < len(list) {
			b = max(a, min(b, d.axis.col(data.at(list[i+1].from))-1))
		}
		free = b + 1
		owner := []rune(d.clean(s.owner))
		if len(owner) > b-a+1 {
			r.fill(a, b, '╌', plain)
			continue
		}
		r.fill(a, b, '━', plain)
		r.write(a, string(owner), plain)
	}
	d.finish(r, "━╌")
}

// maxPlaces is the largest number of rows of a queue.
const maxPlaces = 6

// places draws a server's queue: each place in a row, which other places may use
// before and after. r is the first row, with the server's name.
func (d *drawing) places(r row, server string) {
	data := d.plot.d
	rows, ends := []row{r}, []int{laneLeft - 1}
	for _, s := range data.stays {
		for _, x := range s.on {
			if x.server != server || !d.axis.covers(data.at(x.from), data.at(x.to)) {
				continue
			}
			a, b := d.axis.col(data.at(x.from)), d.axis.col(data.at(x.to))
			i := slices.IndexFunc(ends, func(end int) bool { return end < a })
			if i < 0 {
				i, rows, ends = len(rows), append(rows, newRow()), append(ends, 0)
			}
			ends[i] = b
			rows[i].fill(a, b, '━', plain)
			if owner := []rune(d.clean(s.client())); len(owner) <= b-a+1 {
				rows[i].write(a, string(owner), plain)
			}
		}
	}
	for _, r := range rows[:min(len(rows), maxPlaces)] {
		d.finish(r, "━")
	}
}

// draws reports whether f has a row of its own.
func (d *drawing) draws(f *fault) bool {
	data := d.plot.d
	from, to := data.at(f.sure), data.at(f.end)
	return !f.Ends && f.hit() && d.axis.covers(from, to) && !(f.Once && from < d.axis.from)
}

// faults draws the faults that struck a client or a server, each in a row.
func (d *drawing) faults(name string) {
	data := d.plot.d
	for _, f := range data.faults {
		if !f.strikes(name) || !d.draws(f) {
			continue
		}
		from, to := data.at(f.sure), data.at(f.end)
		if f.end == none { // it stays
			to = d.axis.to + 1
		}
		r := newRow()
		d.name(r, sideName, f.Words.Lane, plain)
		extent := data.extent(f)
		if f.Once {
			text := strings.TrimRight("┼ "+extent, " ")
			r.write(min(d.axis.col(from), len(r)-len([]rune(text))), text, warn)
		} else {
			d.bracket(r, from, to, warn)
			d.within(r, from, to, extent)
		}
		d.page.row(r)
	}
}

// within writes the extent of a fault into its bracket, if there is room.
func (d *drawing) within(r row, from, to time.Duration, text string) {
	a, b := d.axis.col(from), d.axis.col(to)
	if text != "" && b-a > len(text)+3 {
		r.write(a+2, " "+text+" ", warn)
	}
}
