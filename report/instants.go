package report

import (
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// takeFaults copies the judge's reading of faults, their victims and the deaths.
func (d *digest) takeFaults(t *checker.Timeline) {
	for _, x := range t.Injections {
		e := &d.h.Entries[x.Begin]
		if len(e.On) == 0 {
			continue
		}
		f := &fault{
			Fault: faults.InHistory(e.F), lines: x, on: e.On, start: x.Begin, begins: x.Begin, sure: x.Begin, latest: x.Begin, end: none,
			point: e.Point, amount: e.Amount, text: e.Text,
		}
		if f.link() {
			f.mates = max(0, len(f.on)-2)
		}
		d.struck[x.Begin], d.struck[x.Sure], d.struck[x.Heals], d.struck[x.End] = f, f, f, f
	}
	for _, x := range t.Deaths {
		f := d.struck[x.Line]
		if f == nil {
			f = &fault{Fault: faults.InHistory(history.Exit), lines: checker.Injection{Begin: x.Line}, start: x.Line, begins: x.Line, sure: x.Line, latest: x.Line, end: none}
			d.struck[x.Line] = f
		}
		if f.Name == history.Exit {
			f.on, f.heard = append(f.on, x.Client), max(f.heard, x.Heard)
		}
	}
}

// nemesis processes a line of the nemesis.
func (d *digest) nemesis(pos int, e *history.Entry) {
	f := d.struck[pos]
	if f == nil {
		return
	}
	switch pos {
	case f.lines.Begin:
		d.faults = append(d.faults, f)
		for _, name := range f.victims() {
			if f.Ends {
				d.clients[name] = true
			}
			if f.Down() {
				d.downs[name] = append(d.downs[name], f)
			}
		}
	case f.lines.Heals:
		f.end, f.heals, f.hits = pos, pos, e.Hits
		d.reunite(f)
	default:
		d.certain(f, pos, e)
	}
}

// certain processes a second line of f, which says that its effect has happened.
//
// The effect came between the two lines. It is placed at the second one, or just
// before the first line that shows it: of its end, if it stopped its victim. A server takes some time to come back, so it
// counts as back at its first sign of life.
func (d *digest) certain(f *fault, pos int, e *history.Entry) {
	switch {
	case f.end != none:
		f.hits = e.Hits
		sign := d.first(f.end, pos, func(e *history.Entry) bool { return f.Stops && d.acts(f, e) })
		if sign < pos && !f.Down() {
			sign--
		}
		f.end = sign
	case f.Ends: // for the checker a client is dead from the first line on
		f.latest = pos
	default:
		f.sure = d.first(f.start, pos, func(e *history.Entry) bool { return d.suffers(f, e) })
		f.start, f.bounded = f.sure, f.sure < pos && d.h.Entries[f.sure].Process.Client()
		if f.sure < pos {
			f.start--
		}
	}
}

// first returns the first position after from at which shows is true, at most to.
func (d *digest) first(from, to int, shows func(*history.Entry) bool) int {
	for pos := from + 1; pos < to; pos++ {
		if shows(&d.h.Entries[pos]) {
			return pos
		}
	}
	return to
}

// acts reports whether e is an act of a victim of f, or was done for one.
func (d *digest) acts(f *fault, e *history.Entry) bool {
	if e.Process.Client() {
		return e.Type != history.Invoke && f.strikes(client(e)) // its harness writes the invoke
	}
	by := d.opAt(e.By)
	return f.strikes(e.Process.Name) || by != nil && f.strikes(by.client)
}

// suffers reports whether e is a consequence of f: a client that loses its session,
// its data or its correct time loses an entry without a request.
func (d *digest) suffers(f *fault, e *history.Entry) bool {
	if e.By.Set || e.Process.Name == history.Nemesis {
		return false
	}
	made := d.opAt(e.Op)
	struck := f.strikes(e.Process.Name) || made != nil && f.strikes(made.client)
	switch e.F {
	case history.Lose:
		return struck
	case history.Promote:
		return f.strikes(e.Text)
	case history.Remove:
		return f.Operator != "" && (struck || d.queue) || struck && (f.Clock || f.Rate || f.Ends || f.Once)
	case history.Expire:
		return struck && (f.Clock || f.Rate || f.Ends || f.Once)
	case history.Lost:
		return f.strikes(client(e)) && (f.Clock || f.Rate || f.Once)
	}
	// With several servers it is unknown which one did not answer. A request that ran into
	// its time-out may have waited for the lock.
	late := strings.Contains(e.Text, "no answer in time") || strings.Contains(e.Text, "timeout")
	return f.Down() && d.h.Header.Nodes < 2 && !late && (e.Error == errUnavailable || e.Error == errUnknown)
}

// The errors of an operation whose connection fails or is lost.
const (
	errUnavailable = "unavailable"
	errUnknown     = "unknown"
)

// cutShort removes the ends of the faults that were in force when the run ended: they
// lasted to the end.
func (d *digest) cutShort() {
	last := d.last()
	if last < 0 || d.h.Entries[last].F != history.Ended {
		return
	}
	for last >= 0 && d.h.Entries[last].Process.Name == history.Nemesis {
		last--
	}
	for _, f := range d.faults {
		if f.heals > last {
			f.end, f.heals = none, 0
		}
	}
}

// lingers reports whether the end of f is uncertain by more than a moment: a server comes
// back, and a cut is mended, some time after the order.
func (d *digest) lingers(f *fault) bool {
	return f.end != none && d.at(f.end)-d.at(f.heals) > d.nearly()
}

// blurred reports whether the instant at which f struck is less certain than the times
// that a story gives as exact: for a death, and where only a client's answer shows the
// fault, by as much as a story's times show. A client that a fault strikes at a point of its own
// operation waits there until the fault is certain.
func (d *digest) blurred(f *fault) bool {
	from, to := d.strike(f)
	if f.Ends || f.bounded {
		return d.units.at(from) != d.units.at(to)
	}
	operation, _, _, _ := f.struckAt()
	who, _, _ := strings.Cut(operation, " ")
	return (len(f.victims()) > 1 || !f.strikes(who)) && to-from > d.noise()
}

// strike returns the two times between which f struck. A victim that acts was not yet
// stopped.
func (d *digest) strike(f *fault) (from, to time.Duration) {
	begins := f.begins
	for pos := begins + 1; f.Stops && !f.Ends && pos < f.sure; pos++ {
		if d.acts(f, &d.h.Entries[pos]) {
			begins = pos
		}
	}
	return d.at(begins), d.at(max(f.sure, f.latest))
}

// join merges faults that do the same at the same time: the two cut links of a
// client, the fast clocks of three servers.
func (d *digest) join() {
	type when struct {
		kind string
		slot time.Duration
	}
	width := max(d.nearly(), 1)
	near := map[when][]*fault{} // the faults that began in one slot of this length
	var joined []*fault
	for _, f := range d.faults {
		slot := d.at(f.start) / width
		var others []*fault
		for s := slot - 1; s <= slot+1; s++ {
			others = append(others, near[when{f.Name, s}]...)
		}
		i := slices.IndexFunc(others, func(o *fault) bool { return d.alike(o, f) })
		if i < 0 {
			joined = append(joined, f)
			at := when{f.Name, slot}
			near[at] = append(near[at], f)
			continue
		}
		o := others[i]
		both := *o
		both.on = slices.Clone(o.on)
		for _, name := range f.on {
			if !slices.Contains(both.on, name) {
				both.on = append(both.on, name)
			}
		}
		if o.link() {
			slices.Sort(both.on[len(o.victims()):])
		}
		both.hits.V += f.hits.V
		*o = both
	}
	d.faults = joined
}

// alike reports whether a story can treat two faults as one.
func (d *digest) alike(a, b *fault) bool {
	disturbs := a.link() && !a.Once // a message that one of the links lost was lost on all
	return a.Name == b.Name && !a.Ends && (disturbs || a.hit() && b.hit()) &&
		a.point == b.point && a.text == b.text && a.amount == b.amount &&
		(!a.link() || slices.Equal(a.victims(), b.victims()) && len(a.on) > 1 && len(b.on) > 1) &&
		d.atOnce(a.start, b.start) && (a.end == none) == (b.end == none) && (a.end == none || a.Once || d.atOnce(a.end, b.end))
}

// atOnce reports whether two positions have the same time. With real servers nearly
// the same time counts, if only other faults are between them.
func (d *digest) atOnce(a, b int) bool {
	a, b = min(a, b), max(a, b)
	if d.at(a) == d.at(b) {
		return true
	}
	return d.at(b)-d.at(a) <= d.nearly() && !slices.ContainsFunc(d.h.Entries[a:b], func(e history.Entry) bool {
		return e.Process.Name != history.Nemesis
	})
}

// nearly returns the largest distance of two lines of nearly the same time.
func (d *digest) nearly() time.Duration { return d.slack() / 10 }
