package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// beside adds the lanes of another picture with the same frame below, each under its title.
// Its moments keep their numbers, but are no steps. It returns the place of the first of
// these lanes.
func (pic *picture) beside(title string, other *picture, below string) (first int) {
	pic.Lanes = append([]pictureLane{{Name: shown(title), Kind: "title", Story: true}}, pic.Lanes...)
	pic.Lanes = append(pic.Lanes, pictureLane{Name: shown(below), Kind: "title", Story: true})
	first = len(pic.Lanes)
	for _, l := range other.Lanes {
		for i := range l.Marks {
			if m := &l.Marks[i]; m.N > 0 {
				m.Kind, m.Text, m.N = "beat", strconv.Itoa(m.N), 0
			}
		}
		pic.Lanes = append(pic.Lanes, l)
	}
	pic.Left += other.Left
	return first
}

// picture is the lanes on one time axis. Places are percent of the whole width. A part of
// the axis without events that is long is drawn short, and marked.
type picture struct {
	Lanes  []pictureLane
	Ticks  []mark
	Breaks []bar   // parts that are drawn short
	Left   int     // bars and marks that are left out
	From   float64 // what is shown first: the story
	To     float64
	Knots  []knot // where the scale changes

	Messages *messages // nil: none are known

	scale scale
}

// pictureLane is a row of the picture.
type pictureLane struct {
	Name, Kind string // client, server, resource, faults, band
	Story      bool   // the story is about it; others are folded
	Numbered   bool   // it has moments
	Bars       []bar
	Marks      []mark
}

// bar is a time in a lane. Label says what it is, where colours are not seen.
type bar struct {
	X, W        float64
	Kind, Label string
	Text        string // in the bar, if there is room
	Open        bool   // it has no end
}

// mark is an instant in a lane.
type mark struct {
	X           float64
	Kind, Label string
	Text        string
	N           int // number of the moment; 0: none
}

// knot is a time in milliseconds and its place.
type knot struct{ T, X float64 }

// scale maps times to places: linear between knots.
type scale []scaleKnot

type scaleKnot struct {
	t time.Duration
	x float64
}

// at returns the place of a time in percent. Times outside are at the edge.
func (s scale) at(t time.Duration) float64 {
	i, _ := slices.BinarySearchFunc(s, t, func(k scaleKnot, t time.Duration) int { return cmp.Compare(k.t, t) })
	switch {
	case i == 0:
		return s[0].x
	case i == len(s):
		return s[len(s)-1].x
	}
	a, b := s[i-1], s[i]
	return a.x + (b.x-a.x)*long(a.t, t)/long(a.t, b.t)
}

// long returns the length of a time, which may be longer than a duration can be.
func long(from, to time.Duration) float64 { return float64(apart(from, to)) }

// A part without an event is drawn short if it is longer than 1/quiet of the whole, and
// longThan times as long as most parts. It gets shortWidth of the rest.
const (
	quiet      = 6
	longThan   = 8
	shortWidth = 0.05
)

// newScale returns a scale over the events' times, with what is drawn short.
func newScale(times []time.Duration) (s scale, breaks [][2]time.Duration) {
	slices.Sort(times)
	times = slices.Compact(times)
	whole := newAxis(times[0], times[len(times)-1])
	var gaps []float64
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, long(times[i-1], times[i]))
	}
	slices.Sort(gaps)
	total := long(whole.from, whole.to)
	rest := total
	for i := 1; i < len(times); i++ {
		if gap := long(times[i-1], times[i]); gap > total/quiet && gap > longThan*gaps[len(gaps)/2] {
			margin := time.Duration(gap / 20)
			breaks = append(breaks, [2]time.Duration{times[i-1] + margin, times[i] - margin})
			rest -= gap - 2*float64(margin)
		}
	}
	if rest > total*2/3 { // the whole would hardly become clearer
		rest, breaks = total, nil
	}
	short := rest * shortWidth
	total = rest + short*float64(len(breaks))
	x, last := 0.0, whole.from
	s = append(s, scaleKnot{whole.from, 0})
	for _, b := range breaks {
		x += long(last, b[0]) / total * 100
		s = append(s, scaleKnot{b[0], x})
		x += short / total * 100
		s = append(s, scaleKnot{b[1], x})
		last = b[1]
	}
	return append(s, scaleKnot{whole.to, 100}), breaks
}

// The picture has mostBars bars and marks at most, beside the moments.
const mostBars = 2000

// drawable reports whether a story has a picture.
func (p *plot) drawable() bool { return p.tooLong == "" && !p.empty() }

// covered returns the times that the picture covers: all, or the story and what is around
// it if that is too much.
func (p *plot) covered() (from, to time.Duration) {
	first, last := 0, p.d.last()
	if last > mostBars {
		first, last = last, first
		for i := range p.moments {
			first, last = min(first, p.moments[i].pos), max(last, p.moments[i].pos)
		}
		around := max(mostBars-(last-first), 0) / 2
		first, last = max(first-around, 0), min(last+around, p.d.last())
	}
	from, to = p.d.at(first), p.d.at(last)
	low, high := reach(p)
	return min(from, low), max(to, high)
}

// reach returns the times of stories.
func reach(plots ...*plot) (from, to time.Duration) {
	from, to = plots[0].moments[0].at, plots[0].moments[0].at
	for _, p := range plots {
		for i := range p.moments {
			from, to = min(from, p.moments[i].at), max(to, p.moments[i].at)
		}
		for _, s := range p.spans {
			from, to = min(from, s.from), max(to, s.to)
		}
	}
	return from, to
}

// frame is what pictures on one axis have in common.
type frame struct {
	from, to time.Duration
	scale    scale
	breaks   [][2]time.Duration
	story    [2]time.Duration
}

func newFrame(plots ...*plot) *frame {
	f := &frame{}
	f.story[0], f.story[1] = reach(plots...)
	f.from, f.to = f.story[0], f.story[1]
	for _, p := range plots {
		from, to := p.covered()
		f.from, f.to = min(f.from, from), max(f.to, to)
	}
	var times []time.Duration
	for _, p := range plots {
		times = append(times, p.times(f.from, f.to)...)
	}
	f.scale, f.breaks = newScale(times)
	return f
}

// times returns the times of a story's events between two times.
func (p *plot) times(from, to time.Duration) (times []time.Duration) {
	note := func(pos int) {
		if pos != none {
			if t := p.d.at(pos); from <= t && t <= to {
				times = append(times, t)
			}
		}
	}
	for _, o := range p.d.all {
		note(o.invoke)
		note(o.over())
	}
	for _, s := range p.d.stays {
		note(s.from)
		note(s.to)
	}
	for _, f := range p.d.faults {
		note(f.sure)
		note(f.end)
	}
	for i := range p.moments {
		times = append(times, p.moments[i].at)
	}
	for _, g := range p.d.grants {
		for _, l := range g.deadlines {
			if from <= l.until && l.until <= to {
				times = append(times, l.until)
			}
		}
	}
	return times
}

// draw collects the picture.
type draw struct {
	*plot
	from, to time.Duration
	pic      *picture
	drawn    int          // bars and marks so far
	full     bool         // the lane has no room: what is added to it is only counted
	placed   map[int]bool // the moments that have a lane
}

func (p *plot) picture(f *frame) *picture {
	d := &draw{plot: p, from: f.from, to: f.to, pic: &picture{scale: f.scale}, placed: map[int]bool{}}
	for _, k := range d.pic.scale {
		d.pic.Knots = append(d.pic.Knots, knot{math.Round(float64(k.t)/1e3) / 1e3, k.x})
	}
	for _, b := range f.breaks {
		d.pic.Breaks = append(d.pic.Breaks, d.bar(b[0], b[1], "break", p.d.units.span(b[1]-b[0])+" without an event, drawn short", ""))
	}
	from, to := d.x(f.story[0]), d.x(f.story[1])
	pad := max((to-from)/20, 2.5)
	d.pic.From, d.pic.To = max(from-pad, 0), min(to+pad, 100)
	d.ticks()
	for _, c := range d.allClients() {
		d.client(c)
	}
	d.band()
	for _, s := range d.allServers() {
		d.server(s)
	}
	d.resource()
	d.elsewhere()
	return d.pic
}

func (d *draw) x(t time.Duration) float64 { return d.pic.scale.at(t) }

// bar returns the bar of a time, cut to the picture.
func (d *draw) bar(from, to time.Duration, kind, label, text string) bar {
	if d.full {
		return bar{}
	}
	x := d.x(from)
	return bar{X: x, W: max(d.x(to)-x, 0), Kind: kind, Label: shown(label), Text: name(text)}
}

// during returns a time in words.
func (d *draw) during(from, to int) string {
	if d.full {
		return ""
	}
	if to == none {
		return "from " + d.d.units.exact(d.d.at(from)) + " to the end"
	}
	return "from " + d.d.units.exact(d.d.at(from)) + " to " + d.d.units.exact(d.d.at(to))
}

// within reports whether the picture covers a part of a time.
func (d *draw) within(from, to int) bool { return d.d.at(to) >= d.from && d.d.at(from) <= d.to }

// ticks marks round times, but for those in what is drawn short.
func (d *draw) ticks() {
	const room = 6 // columns of a terminal's axis
	whole := axis{d.pic.scale[0].t, d.pic.scale[len(d.pic.scale)-1].t}
	step := whole.step(room)
	for _, t := range whole.ticks(step) {
		x := d.x(t)
		if !slices.ContainsFunc(d.pic.Breaks, func(b bar) bool { return b.X < x && x < b.X+b.W }) {
			d.pic.Ticks = append(d.pic.Ticks, mark{X: x, Text: d.d.units.tick(t, step)})
		}
	}
}

// mostLanes is how many clients, and how many servers, have a lane.
const mostLanes = 40

// allClients returns the clients of the story and others that asked for the lock, by name.
func (p *plot) allClients() []string {
	list := slices.Clone(p.clients)
	seen := map[string]bool{}
	for _, c := range list {
		seen[c] = true
	}
	for _, o := range p.d.all {
		if !seen[o.client] && len(list) < mostLanes {
			seen[o.client], list = true, append(list, o.client)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return list
}

// allServers returns the servers that had entries, or are in the story, by name.
func (p *plot) allServers() (list []string) {
	for s := range p.d.servers {
		list = append(list, s)
	}
	for i := range p.moments {
		if s := p.moments[i].lane; p.d.hosts(s) && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), mostLanes)]
}

// lane adds a lane with the moments in it.
func (d *draw) lane(l pictureLane) {
	for i := range d.moments {
		if m := &d.moments[i]; m.lane == l.Name && !d.placed[i] {
			d.place(&l, i)
		}
	}
	d.pic.Lanes = append(d.pic.Lanes, d.bounded(l))
}

// place puts a moment into a lane.
func (d *draw) place(l *pictureLane, i int) {
	m := &d.moments[i]
	d.placed[i], l.Story, l.Numbered = true, true, true
	l.Marks = append(l.Marks, mark{X: d.x(m.at), Kind: "moment", Label: shown(d.d.units.exact(m.at) + ": " + m.line), N: i + 1})
}

// elsewhere adds a lane for the moments that have none.
func (d *draw) elsewhere() {
	l := pictureLane{Name: "not shown", Kind: "others"}
	for i := range d.moments {
		if !d.placed[i] {
			d.place(&l, i)
		}
	}
	if l.Numbered {
		d.pic.Lanes = append(d.pic.Lanes, l)
	}
}

// bounded leaves out what is too much, and returns the lane with a name that has room.
func (d *draw) bounded(l pictureLane) pictureLane {
	l.Name = name(l.Name)
	room := max(mostBars-d.drawn, 0)
	if n := len(l.Bars); n > room {
		d.pic.Left += n - room
		l.Bars = l.Bars[:room]
	}
	room = max(room-len(l.Bars), 0)
	l.Marks = slices.DeleteFunc(l.Marks, func(m mark) bool {
		if m.N > 0 {
			return false
		}
		room--
		if room < 0 {
			d.pic.Left++
		}
		return room < 0
	})
	d.drawn += len(l.Bars) + len(l.Marks)
	return l
}

// client draws a client: its waits, its holds, the time after a lease, and the
// faults that struck it.
func (d *draw) client(who string) {
	l := pictureLane{Name: who, Kind: "client", Story: slices.Contains(d.shown(), who)}
	for _, o := range d.d.all {
		if o.client != who || !d.within(o.invoke, o.over()) {
			continue
		}
		d.full = len(l.Bars) >= mostBars-d.drawn
		from, to := d.d.at(o.invoke), d.d.at(o.over())
		switch {
		case o.asks():
			b := d.bar(from, to, "wait", "waits for the lock "+d.during(o.invoke, o.over()), "")
			if b.Open = o.outcome == history.Info; b.Open {
				b.Label += ", outcome unknown"
			}
			l.Bars = append(l.Bars, b)
		case o.outcome == history.Info && o.done != none:
			b := d.bar(from, to, "open", o.f+" of unknown outcome "+d.during(o.invoke, o.over()), "")
			b.Open = true
			l.Bars = append(l.Bars, b)
		case o.f == history.Release:
			l.Bars = append(l.Bars, d.bar(from, to, "release", "releases "+d.during(o.invoke, o.over()), ""))
		}
	}
	for _, g := range d.d.grants {
		if g.client == who && !before(g.end, g.got) && d.within(g.got, g.end) {
			d.full = len(l.Bars) >= mostBars-d.drawn
			d.hold(&l, g)
		}
	}
	d.full = false
	d.struck(&l, who)
	d.lane(l)
}

// hold draws a grant: the lease as its client knew it, and the time after that.
func (d *draw) hold(l *pictureLane, g *grant) {
	from, to, text := d.d.at(g.got), d.d.at(g.end), "holds"
	exact := d.d.units.exact
	if d.full {
		exact = func(time.Duration) string { return "" }
	}
	if g.token != 0 {
		text = "token " + strconv.FormatUint(g.token, 10)
	}
	if len(g.deadlines) == 0 {
		l.Bars = append(l.Bars, d.bar(from, to, "hold", "holds the lock "+d.during(g.got, g.end), text))
		return
	}
	for i, known := range g.deadlines {
		next := to
		if i+1 < len(g.deadlines) {
			next = d.d.at(g.deadlines[i+1].pos)
		}
		if until := min(known.until, next); until > from {
			l.Bars = append(l.Bars, d.bar(from, until, "hold", "holds the lock from "+exact(from)+", lease until "+exact(known.until), text))
			from, text = until, ""
		}
		if known.until < next {
			l.Bars = append(l.Bars, d.bar(max(from, known.until), next, "beyond", "has not released the lock; its lease ended at "+exact(known.until), "lease over"))
			if known.until < d.from || known.until > d.to {
				from = next
				continue
			}
			l.Marks = append(l.Marks, mark{X: d.x(known.until), Kind: "lease", Label: "the lease of " + shown(g.client) + " ends at " + exact(known.until)})
		}
		from = next
	}
}

// struck draws the faults that struck a client or a server.
func (d *draw) struck(l *pictureLane, who string) {
	for _, f := range d.d.faults {
		if !f.strikes(who) || !f.hit() || !d.within(f.sure, f.end) {
			continue
		}
		what := shown(d.d.fill(f, f.Words.Past))
		if f.Ends {
			end := d.to
			if back := d.back(who, f); back != none {
				end = d.d.at(back)
			}
			l.Bars = append(l.Bars, d.bar(d.d.at(f.start), end, "dead", what, "dead"))
			continue
		}
		end := f.end
		b := d.bar(d.d.at(f.sure), d.d.at(end), "fault", what, f.Words.Lane)
		if b.Open = end == none; f.Stops {
			b.Kind = "stopped"
		}
		if f.Once {
			b.W = 0
		}
		l.Bars = append(l.Bars, b)
	}
}

// back returns where a client acts again after a fault that ended it, or none.
func (p *plot) back(who string, f *fault) int {
	if f.end != none {
		return f.end
	}
	for _, o := range p.d.all {
		if o.client == who && o.invoke > f.start {
			return o.invoke
		}
	}
	return none
}

// band draws the times in which two clients hold, or nobody does.
func (d *draw) band() {
	var list []pictureLane
	for _, s := range append(slices.Clone(d.spans), d.more...) {
		if s.to < d.from || s.from > d.to {
			continue
		}
		i := slices.IndexFunc(list, func(l pictureLane) bool { return l.Name == s.label })
		if i < 0 {
			i, list = len(list), append(list, pictureLane{Name: s.label, Kind: "band", Story: true})
		}
		label := s.label
		if n := s.names(); n != "" {
			label = n
		}
		kind := "both"
		if s.x == nil {
			kind = "span"
		}
		list[i].Bars = append(list[i].Bars, d.bar(s.from, s.to, kind, label+" from "+d.d.units.exact(s.from)+" to "+d.d.units.exact(s.to), label))
	}
	for _, l := range list {
		d.lane(l)
	}
}

// server draws the entries of a server. Entries of a queue stand below each other.
func (d *draw) server(who string) {
	var rows []pictureLane
	var ends []time.Duration
	entry := "entry"
	if d.d.queue {
		entry = "node"
	}
	for _, s := range d.d.stays {
		for _, x := range s.on {
			if x.server != who || !d.within(x.from, x.to) {
				continue
			}
			from := d.d.at(x.from)
			i := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= from })
			if i < 0 {
				i, rows, ends = len(rows), append(rows, pictureLane{Name: who, Kind: "server"}), append(ends, 0)
			}
			if ends[i] = d.d.at(x.to); x.to == none {
				ends[i] = math.MaxInt64
			}
			how := ""
			switch {
			case x.to == none || x.to != s.to:
			case s.by != nil && !s.own():
				how = ", removed by " + s.by.client
			case d.d.fromOutside(x.to) && d.d.tamperer(s, x.to) != nil:
				how = ", removed by an operator"
				if s.how == history.Takeover {
					how = ", changed by an operator"
				}
			case s.how == history.Expire:
				how = ", expired"
			case s.how == history.Lose:
				how = ", lost"
			}
			b := d.bar(from, d.d.at(x.to), "entry", s.owner()+" "+entry+" "+d.during(x.from, x.to)+how, s.client())
			b.Open = x.to == none
			rows[i].Bars = append(rows[i].Bars, b)
		}
	}
	if len(rows) == 0 {
		rows = []pictureLane{{Name: who, Kind: "server"}}
	}
	d.struck(&rows[0], who)
	for i, l := range rows {
		if i > 0 {
			l.Name, l.Kind = "", "server more"
			d.pic.Lanes = append(d.pic.Lanes, d.bounded(l))
			continue
		}
		d.lane(l)
	}
}

// resource draws the accesses that reached the resource.
func (d *draw) resource() {
	l := pictureLane{Name: history.Resource, Kind: "resource", Story: true}
	for _, v := range d.d.visits {
		if !d.within(v.pos, v.pos) {
			continue
		}
		m := mark{X: d.x(d.d.at(v.pos)), Text: "R", Kind: "read", Label: somebody(v.client) + " reads"}
		switch {
		case v.f == history.Refuse:
			m.Text, m.Kind, m.Label = "!", "refused", somebody(v.client)+" is refused"
		case v.f == history.Write:
			m.Text, m.Kind, m.Label = "W", "write", somebody(v.client)+" writes"
			if over, _ := d.d.overwritten(v); over {
				m.Kind, m.Label = "lost", somebody(v.client)+" writes, and destroys a write that it had not read"
			}
		}
		if v.value.Set {
			m.Label += " " + strconv.FormatInt(v.value.V, 10)
		}
		if v.token != 0 {
			m.Label += ", token " + strconv.FormatUint(v.token, 10)
		}
		m.Label = shown(m.Label + " at " + d.d.units.exact(d.d.at(v.pos)))
		l.Marks = append(l.Marks, m)
	}
	if len(l.Marks) > 0 {
		d.lane(l)
	}
}
