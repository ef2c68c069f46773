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
	mates      int  // of a link: the number of clients that share it with the first
	start, end int  // positions of its lines; none: it never ended
	begins     int  // position of its first line: start, if there is one only
	sure       int  // position by which it has certainly struck: the instant that a story tells
	heals      int  // position from which it may be over: end, if that has one line only
	latest     int  // of a death: position by which it is certain; the story has it at start, as the judge does
	bounded    bool // only a client's answer shows that it had struck by sure
	point      string
	text       string
	amount     time.Duration
	hits       history.Opt
	heard      int   // of an exit: the last sign of life before it
	merged     []int // the first lines of the faults that are told together with this one
	replaced   bool  // a replica has replaced its server
}

// pause is the fault that stories treat specially: a holder that wakes up goes on
// where it stopped.
const pause = "pause"

// partition is the fault that cuts clients off from servers in both directions.
const partition = "partition"

// cutOff is the fault after which a replaced master may not know that it was
// replaced.
const cutOff = "partition-servers"

// The directions in which a link can be disturbed, as the nemesis writes them.
const (
	toServer = "to-server"
	toClient = "to-client"
)

// victims returns the names of the lanes that show f. For a link these are its client
// and the clients that share its process.
func (f *fault) victims() []string {
	if f.link() {
		return f.on[:1+f.mates]
	}
	return f.on
}

// strikes reports whether name is one of the victims.
func (f *fault) strikes(name string) bool { return slices.Contains(f.victims(), name) }

// whom returns the victims, in words.
func (f *fault) whom() string { return list(f.victims()) }

var either = regexp.MustCompile(`(\w+)\|(\w+)`)

// link reports whether f acts on the links between clients and servers.
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
	what, message, arrived := "everything between "+on+" and "+to, "message of "+on+" and "+to, ""
	switch f.text {
	case toServer:
		what, message, arrived = "everything from "+on+" to "+to, "request of "+on+" to "+to, ": the request was lost"
	case toClient:
		what, message, arrived = "everything from "+to+" to "+on, "reply of "+to+" to "+on, ": the request got through"
	}
	did := ", and did"
	if f.hits.V == 0 {
		did, arrived = "", ""
	}
	length, until := "", ""
	if f.end != none {
		length = " for " + d.units.span(d.at(f.end)-d.at(f.sure))
		until = ", until " + d.units.at(d.at(f.end))
		if d.lingers(f) {
			until += " at the latest"
		}
		if d.blurred(f) || d.lingers(f) {
			length = until
		}
	} else if d.blurred(f) {
		length, until = ", until the end", ", until the end"
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
	return strings.NewReplacer("{on}", on, "{to}", to, "{what}", what, "{message}", message, "{arrived}", arrived,
		"{for}", length, "{until}", until, "{did}", did, "{since}", since,
		"{clock}", f.clock(), "{by}", by+amount, "{ahead}", amount+ahead, "{amount}", amount, "{each}", each,
		"{gained}", gained, "{gains}", either.ReplaceAllString(gains, number), "{replaced}", replaced).
		Replace(either.ReplaceAllString(phrase, number))
}

// clock returns the clock that f changes: "c2's clock", "the clocks of c1 and c2".
func (f *fault) clock() string {
	if len(f.victims()) > 1 {
		return "the clocks of " + f.whom()
	}
	return possessive(f.whom()) + " clock"
}

// where returns in words at which point of an operation a fault struck: "before its
// write left", "between the GET and the DEL of its release"; subject is the subject
// of the sentence. It returns "" if the fault struck at a time.
//
// The words use the client's name of the request, or else its number: the fault's
// line does not show whether another request followed.
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

// next returns which request of an operation, "c1 release", comes after the point at which
// f struck it. It returns "" if f struck elsewhere, or before the first request.
func (f *fault) next(operation string) string {
	where, place, _ := strings.Cut(f.point, ": ")
	place, commands, _ := strings.Cut(place, ", ")
	sends, sent, _ := strings.Cut(commands, " after ")
	switch {
	case where != operation || place == "before request 1" || place == afterOK:
		return ""
	case strings.HasPrefix(place, "before") && sends != sent && sends != "":
		return "the " + sends
	}
	return "the rest"
}

// afterOK is a point that the moment before it already shows.
const afterOK = "after ok"

// request turns "request 1" with the command GET into "the GET", "request 2" into
// "request 2, a GET", and without a command into "request 2". In older histories
// "last" is the last request of an undisturbed operation. With several nodes the
// first requests leave together.
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

// extent returns the size of f as it is drawn, such as "+15 s", or "" if it is not
// drawn.
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
		d.atOnce(a.start, b.start) && (a.end == none) == (b.end == none) && (a.end == none || d.atOnce(a.end, b.end))
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

// hit reports whether f is known to have touched an operation, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }
