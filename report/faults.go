package report

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// fault is one use of a fault, as the nemesis wrote it down.
type fault struct {
	faults.Fault
	lines      checker.Injection
	on         []string
	mates      int // of a link: how many clients share it with the first
	start, end int // positions where it is told; none: it never ended
	begins     int // position of its first line: start, if there is one only
	sure       int // position by which it has struck
	heals      int // position from which on it may be over: end, if it has one line only
	point      string
	text       string
	amount     time.Duration
	hits       history.Opt
	heard      int  // of an exit: the last sign of life before it
	replaced   bool // a replica has taken the place of its server
}

// pause is the fault that a story has to know by name: a holder that wakes up
// goes on where it stood.
const pause = "pause"

// cutOff is the fault after which a master that was replaced may not know it.
const cutOff = "partition-servers"

// The directions in which a link can be disturbed, as the nemesis writes them.
const (
	toServer = "to-server"
	toClient = "to-client"
)

// victims are those whose lanes show f: of a link its client, with those that
// share its process.
func (f *fault) victims() []string {
	if f.link() {
		return f.on[:1+f.mates]
	}
	return f.on
}

// strikes tells whether name is one of the victims.
func (f *fault) strikes(name string) bool { return slices.Contains(f.victims(), name) }

// whom is who was struck, in words.
func (f *fault) whom() string { return list(f.victims()) }

var either = regexp.MustCompile(`(\w+)\|(\w+)`)

// link reports whether f acts on clients and what they talk to.
func (f *fault) link() bool { return f.On == faults.OnLink }

// fill completes a phrase of the fault's words.
func (d *digest) fill(f *fault, phrase string) string {
	number := "$1"
	if len(f.victims()) > 1 {
		number = "$2"
	}
	on, to := f.whom(), ""
	if ends := f.on[len(f.victims()):]; len(ends) > 0 {
		to = strings.Replace(list(ends), history.Resource, "the resource", 1)
	}
	what := "everything between " + on + " and " + to
	switch f.text {
	case toServer:
		what = "everything from " + on + " to " + to
	case toClient:
		what = "everything from " + to + " to " + on
	}
	length, until := "", ""
	if f.end != none {
		length = " for " + d.units.span(d.at(f.end)-d.at(f.start))
		until = ", until " + d.units.at(d.at(f.end))
		if d.lingers(f) {
			until += " at the latest"
		}
		if d.blurred(f) || d.lingers(f) {
			length = until
		}
	}
	did := ""
	if f.hits.V > 0 {
		did = ", and did"
	}
	since := ""
	if len(f.on) == 1 && f.Name == history.Exit && d.at(f.start)-d.at(f.heard) > d.slack() {
		since = ": nothing was heard of it after " + d.units.at(d.at(f.heard))
	}
	by, ahead, gained, gains := "forward by ", " ahead", "gained", "gains|gain"
	if f.amount < 0 {
		by, ahead, gained, gains = "back by ", " back", "lost", "loses|lose"
	}
	each, replaced := "", ""
	if lease := d.h.Header.Lease(); lease > 0 {
		each = " in each " + d.units.span(lease)
	}
	if f.replaced {
		replaced = ", as a replica"
	}
	amount := d.units.span(f.amount)
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what,
		"{for}", length, "{until}", until, "{did}", did, "{since}", since,
		"{clock}", f.clock(), "{by}", by+amount, "{ahead}", amount+ahead, "{amount}", amount, "{each}", each,
		"{gained}", gained, "{gains}", either.ReplaceAllString(gains, number), "{replaced}", replaced).
		Replace(either.ReplaceAllString(phrase, number))
}

// clock is the clock of whom f strikes: "c2's clock", "the clocks of c1 and c2".
func (f *fault) clock() string {
	if len(f.victims()) > 1 {
		return "the clocks of " + f.whom()
	}
	return possessive(f.whom()) + " clock"
}

// where says in words at which point of an operation a fault struck: "before
// its write left", "between the GET and the DEL of its release"; subject is who the
// sentence is about. "": it struck at a time.
//
// It names the request as the client did, or else by its number: nobody knows
// whether another one followed.
func (f *fault) where(subject string, nodes int) string {
	head, place, ok := strings.Cut(f.point, ": ")
	who, op, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 {
		return ""
	}
	its := "its " + op
	if who != subject {
		its = possessive(who) + " " + op
	}
	single := op == history.Read || op == history.Write
	place, commands, _ := strings.Cut(place, ", ")
	when, which, _ := strings.Cut(place, " ")
	sends, sent, _ := strings.Cut(commands, " after ")
	switch {
	case place == afterOK:
		return "once " + its + " had succeeded"
	case when == "before" && single:
		return "before " + its + " left"
	case when == "after" && single:
		return "when the answer to " + its + " had come"
	case when == "before" && sent != "" && sent != sends:
		return "between the " + sent + " and the " + sends + " of " + its
	case when == "before":
		return "just before " + request(which, sends, nodes) + " of " + its
	case when == "after":
		return "just after the answer to " + request(which, sends, nodes) + " of " + its
	}
	return ""
}

// afterOK is the place of a point that the moment before it says already.
const afterOK = "after ok"

// request turns "request 1" with the command GET into "the GET", "request 2" into
// "request 2, a GET", and without a command into "request 2". Older histories say
// "last" of the last request that an operation has when nothing disturbs it. To several
// nodes the first requests leave together.
func request(which, sends string, nodes int) string {
	switch {
	case which == "last":
		return "what is usually the last request"
	case sends == "":
		return which
	case which == "request 1" && nodes > 1:
		return "one of the first " + sends + "s"
	case which == "request 1":
		return "the " + sends
	}
	return which + " (" + sends + ")"
}

// extent is how far f goes, as it is drawn: "+15 s"; "": it is not.
func (d *digest) extent(f *fault) string {
	if f.amount == 0 || !f.Clock && !f.Rate {
		return ""
	}
	text := "+" + d.units.span(f.amount)
	if f.amount < 0 {
		text = "-" + d.units.span(f.amount)
	}
	if lease := d.h.Header.Lease(); lease > 0 && f.Rate {
		text += "/" + d.units.span(lease)
	}
	return text
}

// join makes one fault of those that do the same at the same time: two links of
// a client that are cut, the clocks of three servers that run fast.
func (d *digest) join() {
	type when struct {
		kind string
		slot time.Duration
	}
	width := max(d.nearly(), 1)
	near := map[when][]*fault{} // those that began in a slot as long as one time is
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

// alike tells whether two faults can be told as one.
func (d *digest) alike(a, b *fault) bool {
	disturbs := a.link() && !a.Once // what one of the links was lost on was lost on all
	return a.Name == b.Name && !a.Ends && (disturbs || a.hit() && b.hit()) &&
		a.point == b.point && a.text == b.text && a.amount == b.amount &&
		(!a.link() || slices.Equal(a.victims(), b.victims()) && len(a.on) > 1 && len(b.on) > 1) &&
		d.atOnce(a.start, b.start) && (a.end == none) == (b.end == none) && (a.end == none || d.atOnce(a.end, b.end))
}

// atOnce tells whether two positions are of one time; or nearly, as with real servers,
// with nothing but other faults between them.
func (d *digest) atOnce(a, b int) bool {
	a, b = min(a, b), max(a, b)
	if d.at(a) == d.at(b) {
		return true
	}
	return d.at(b)-d.at(a) <= d.nearly() && !slices.ContainsFunc(d.h.Entries[a:b], func(e history.Entry) bool {
		return e.Process.Name != history.Nemesis
	})
}

// nearly is how far apart two lines may be that are of nearly one time.
func (d *digest) nearly() time.Duration { return d.slack() / 10 }

// hit tells whether f is known to have touched something, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }
