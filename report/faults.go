package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// fault is one use of a fault, as the nemesis wrote it down.
type fault struct {
	id         int
	kind       string
	on         []string
	start, end int // positions; none: it never ended
	point      string
	text       string
	amount     time.Duration
	hits       history.Opt
}

// pause is the fault that a story has to know by name: a holder that wakes up
// goes on where it stood.
const pause = "pause"

// vocabulary is how a kind of fault is told and drawn.
type vocabulary struct {
	label  string // of its lane
	past   string // what happened: {on} and {to} are what it acts on, {for} how long, {by} how far
	now    string // the same for the list of moments
	deadly bool   // its client does nothing any more
	once   bool   // it is over at once, or strikes once: a point on the axis
}

// vocabularies are the faults known by name. Any other is told by its name.
var vocabularies = map[string]vocabulary{
	pause:              {label: "paused", past: "{on} was paused{for}", now: "{on} is paused{for}"},
	"hang":             {label: "hangs", past: "a task of {on} hung{for}", now: "a task of {on} hangs{for}"},
	"kill":             {past: "{on} was killed", now: "{on} is killed", deadly: true, once: true},
	"poweroff":         {past: "the machine of {on} went dark", now: "the machine of {on} goes dark", deadly: true, once: true},
	history.Exit:       {past: "the process of {on} ended", now: "the process of {on} ends", deadly: true, once: true},
	"restart":          {label: "down", past: "{on} was stopped, to be restarted with its data{after}", now: "{on} stops, and restarts with its data{after}"},
	"restart-lost":     {label: "down", past: "{on} lost power, and came back with what its disk had kept{after}", now: "{on} loses power, and restarts with what its disk kept{after}"},
	"server-pause":     {label: "paused", past: "{on} was paused{for}", now: "{on} is paused{for}"},
	"server-jump":      {label: "clock", past: "the clock of {on} jumped {by}", now: "the clock of {on} jumps {by}", once: true},
	"jump":             {label: "clock", past: "the clock of {on} jumped {by}", now: "the clock of {on} jumps {by}", once: true},
	"partition":        {label: "cut off", past: "{on} and {to} were cut off from each other{for}", now: "{on} and {to} are cut off{for}"},
	"partition-oneway": {label: "cut off", past: "what {on} and {to} send each other was held back, in one direction,{for}", now: "{on} and {to} are cut off in one direction{for}"},
	"delay":            {label: "slow link", past: "the network began to delay what {on} and {to} send each other by {amount}{for}", now: "{on} to {to}: messages take {amount} longer{for}"},
	"drop-reply":       {label: "reply lost", past: "the network was made to lose the next reply of {to} to {on}", now: "the next reply of {to} to {on} will be lost", once: true},
	"kill-connection":  {label: "reset", past: "the network was made to reset the connection of {on} to {to} at the next message", now: "the next message between {on} and {to} will reset their connection", once: true},
}

// The directions in which a link can be disturbed, as the nemesis writes them.
const (
	toServer = "to-server"
	toClient = "to-client"
)

func (f *fault) words() vocabulary {
	v, ok := vocabularies[f.kind]
	if !ok {
		on := strings.Join(f.on, " and ")
		return vocabulary{label: f.kind, past: f.kind + " struck " + on + "{for}", now: f.kind + " strikes " + on + "{for}"}
	}
	if f.kind == "partition-oneway" || f.kind == "delay" {
		from, to := "{on}", "{to}"
		if f.text == toClient {
			from, to = to, from
		}
		if f.text == toServer || f.text == toClient {
			v.now = strings.ReplaceAll(v.now, "{on} to {to}", from+" to "+to)
			v.past = strings.ReplaceAll(v.past, "what {on} and {to} send each other", "what "+from+" sends to "+to)
			v.past = strings.ReplaceAll(v.past, ", in one direction,", "")
			v.now = strings.ReplaceAll(v.now, "{on} and {to} are cut off in one direction", "nothing gets from "+from+" to "+to)
		}
	}
	return v
}

// tell fills in a phrase of the vocabulary.
func (d *digest) tell(f *fault, phrase string) string {
	on, to := f.on[0], ""
	if len(f.on) > 1 {
		to = f.on[1]
		if to == history.Resource {
			to = "the resource"
		}
	}
	length, after := "", ""
	if f.end != none {
		for_ := d.units.span(d.at(f.end) - d.at(f.start))
		length, after = " for "+for_, " after "+for_
	}
	by := "forward by "
	if f.amount < 0 {
		by = "back by "
	}
	return strings.NewReplacer("{on}", on, "{to}", to, "{for}", length, "{after}", after,
		"{by}", by+d.units.span(f.amount), "{amount}", d.units.span(f.amount)).Replace(phrase)
}

// where says in words at which point of an operation a fault struck: "before
// its write left". "": it struck at a time.
func (f *fault) where() string {
	head, place, ok := strings.Cut(f.point, ": ")
	who, op, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 {
		return ""
	}
	its := "its " + op
	if len(f.on) == 0 || who != f.on[0] {
		its = fmt.Sprintf("the %s of %s", op, who)
	}
	single := op == history.Read || op == history.Write
	when, which, _ := strings.Cut(place, " ")
	switch {
	case place == "after ok":
		return "as soon as " + its + " had succeeded"
	case when == "before" && single:
		return "before " + its + " left"
	case when == "after" && single:
		return "when the answer to " + its + " had come"
	case when == "before":
		return "before the " + ordinal(which) + " of " + its + " left"
	case when == "after":
		return "when the answer to the " + ordinal(which) + " of " + its + " had come"
	}
	return ""
}

// ordinal turns "last" and "request 2" into "last request" and "second request".
func ordinal(which string) string {
	words := []string{"request 1", "request 2", "request 3"}
	if i := slices.Index(words, which); i >= 0 {
		return []string{"first", "second", "third"}[i] + " request"
	}
	if which == "last" {
		return "last request"
	}
	return which
}

// hit tells whether f is known to have touched something, or may have.
func (f *fault) hit() bool { return !f.hits.Set || f.hits.V != 0 }
